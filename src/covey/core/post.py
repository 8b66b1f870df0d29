"""The post: a message on its way to a person's conversation, the table of its moves, and when to try again."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.backoff import Backoff
from covey.core.errors import IllegalMove
from covey.core.ids import DeliveryId, MessageId
from covey.core.message import Message
from covey.core.names import AgentName

FIRST_DELAY: Final = timedelta(seconds=1)
LONGEST_DELAY: Final = timedelta(minutes=5)
_BACKOFF: Final = Backoff(FIRST_DELAY.total_seconds(), LONGEST_DELAY.total_seconds())
"""Each refusal doubles the time until the next try, up to this."""

LONGEST_ASKED: Final = timedelta(hours=1)
"""A receiver that asks for a longer pause is tried after this one."""

GIVE_UP_AFTER: Final = timedelta(hours=24)
"""A post that is refused when it is this old is given up."""

MAX_ATTEMPTS: Final = 500
"""More than fit into that time: only a post that ends whoever carries it gets here."""


END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)
"""By then everything is due that ever will be."""


class PostState(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    """The receiver took it."""
    FAILED = "failed"
    """It was given up; its delivery still waits in the channel's inbox, and somebody may have it tried again."""
    DROPPED = "dropped"
    """Its delivery came to an end first: withdrawn, expired, or handled by hand."""


class PostMove(StrEnum):
    TAKE = "take"
    """Somebody carries it to the receiver, and nobody else does meanwhile."""
    DEFER = "defer"
    """It was refused, and is tried again later."""
    DELIVER = "deliver"
    FAIL = "fail"
    DROP = "drop"
    RETRY = "retry"
    """Somebody wants a failed one tried again."""


_S = PostState
_M = PostMove

POST_MOVES: Final[Mapping[PostState, Mapping[PostMove, PostState]]] = {
    _S.PENDING: {
        _M.TAKE: _S.PENDING,
        _M.DEFER: _S.PENDING,
        _M.DELIVER: _S.DELIVERED,
        _M.FAIL: _S.FAILED,
        _M.DROP: _S.DROPPED,
    },
    # One who was taken for dead may still report that it got there.
    _S.FAILED: {_M.RETRY: _S.PENDING, _M.DELIVER: _S.DELIVERED},
    _S.DELIVERED: {},
    _S.DROPPED: {},
}


class Post(NamedTuple):
    id: DeliveryId
    """The delivery's; receivers know it as the idempotency key."""
    channel: AgentName
    conversation: str
    """Empty for the channel's own, where it has but one."""
    message_id: MessageId
    state: PostState
    created_at: datetime
    since: datetime
    """From when on its age counts: when it was made, or when somebody had it tried again."""
    next_at: datetime | None = None
    """When it may be tried, or tried again. None while it waits behind another of its conversation, and at its end."""
    attempts: int = 0
    """How often it was taken; also what tells an old report from the newest."""
    holder: str | None = None
    """The lock of the process that has it."""
    error: str | None = None
    """Why the last try came to nothing."""


class Refused(NamedTuple):
    """A receiver did not take a post, or was not there."""

    reason: str
    is_final: bool = False
    """Trying again would come to the same."""
    retry_after: timedelta | None = None
    """How long it wants to be left alone, where it said so."""


class Posted(NamedTuple):
    """A receiver took a post."""


class Outgoing(NamedTuple):
    """A post that was taken, and what it carries."""

    post: Post
    message: Message


def new_post(
    delivery: DeliveryId, channel: AgentName, conversation: str, message: Message, now: datetime, *, waits: bool
) -> Post:
    """Return the post of a delivery; it `waits` where an older one of its conversation is not done with."""
    next_at = None if waits else now
    return Post(delivery, channel, conversation, message.id, PostState.PENDING, now, now, next_at)


def post_moved(post: Post, move: PostMove) -> Post:
    """Return the post after `move`, with nobody who has it and no time to try it; a move that the table does not have
    is IllegalMove."""
    state = POST_MOVES[post.state].get(move)
    if state is None:
        raise IllegalMove("post", post.state, move)
    return post._replace(state=state, next_at=None, holder=None)


def taken(post: Post, holder: str, until: datetime) -> Post:
    """Return the post as one process has it: until then nobody else does, unless that process ends first."""
    return post_moved(post, PostMove.TAKE)._replace(holder=holder, next_at=until, attempts=post.attempts + 1)


def delivered(post: Post) -> Post:
    """Return the post after the receiver took it."""
    return post_moved(post, PostMove.DELIVER)._replace(error=None)


def refused(post: Post, refusal: Refused, now: datetime) -> tuple[Post, PostMove]:
    """Return the post after a refusal, and the move that it is: tried again later, or given up."""
    is_old = now - post.since >= GIVE_UP_AFTER or post.attempts >= MAX_ATTEMPTS
    if refusal.is_final or is_old:
        return post_moved(post, PostMove.FAIL)._replace(error=refusal.reason), PostMove.FAIL
    asked = min(refusal.retry_after or timedelta(), LONGEST_ASKED)
    next_at = now + max(asked, delay(post.attempts))
    return post_moved(post, PostMove.DEFER)._replace(next_at=next_at, error=refusal.reason), PostMove.DEFER


def delay(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts: 1 s, 2 s, 4 s … 5 minutes."""
    return timedelta(seconds=_BACKOFF.after(attempts))


def retried(post: Post, now: datetime, *, waits: bool) -> Post:
    """Return a failed post that is to be tried again, from the beginning."""
    return post_moved(post, PostMove.RETRY)._replace(since=now, attempts=0, next_at=None if waits else now)


def conversation_of(channel: AgentName, message: Message, answered: Message | None) -> str:
    """Return the conversation of a channel that a message belongs to: its callback says so, or that of the message it
    answers; else it is the channel's own."""
    for carrier in (message, answered):
        if carrier is not None and carrier.callback is not None and carrier.callback.channel == channel:
            return carrier.callback.session_id
    return ""
