"""Posts and bindings. A post is a message on its way to a person's conversation, with the table of its moves and its
retries. A binding names the agent or session that receives what people say in a conversation."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.backoff import Backoff
from covey.core.errors import IllegalMove, Invalid
from covey.core.identity import Address, AddressKind, parse_address
from covey.core.ledger.message import Message
from covey.core.names import AgentName, DeliveryId, MessageId

FIRST_DELAY: Final = timedelta(seconds=1)
LONGEST_DELAY: Final = timedelta(minutes=5)
_BACKOFF: Final = Backoff(FIRST_DELAY.total_seconds(), LONGEST_DELAY.total_seconds())
"""Each refusal doubles the time until the next try, up to this."""

LONGEST_ASKED: Final = timedelta(hours=1)
"""The longest pause that a receiver can ask for. After it, the post is retried anyway."""

GIVE_UP_AFTER: Final = timedelta(hours=24)
"""The age at which a refused post fails and is not retried any more."""

MAX_ATTEMPTS: Final = 500
"""The largest number of attempts. `GIVE_UP_AFTER` comes first, unless a post crashes every process that carries it."""


END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)
"""A date after every due time."""


class PostState(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    """The receiver accepted the post."""
    FAILED = "failed"
    """There are no further attempts. The delivery still waits in the channel's inbox, and a retry can be requested."""
    DROPPED = "dropped"
    """The delivery ended first: withdrawn, expired, or handled by hand."""


class PostMove(StrEnum):
    TAKE = "take"
    """A process takes the post to carry it; no other process does so meanwhile."""
    DEFER = "defer"
    """The post was refused, and is retried later."""
    DELIVER = "deliver"
    FAIL = "fail"
    DROP = "drop"
    RETRY = "retry"
    """A retry of a failed post was requested."""


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
    # A process whose lease ran out may still report that the post was delivered.
    _S.FAILED: {_M.RETRY: _S.PENDING, _M.DELIVER: _S.DELIVERED},
    _S.DELIVERED: {},
    _S.DROPPED: {},
}


class Post(NamedTuple):
    id: DeliveryId
    """The id of the delivery; receivers get it as the idempotency key."""
    channel: AgentName
    conversation: str
    """Empty for the channel's own conversation."""
    message_id: MessageId
    state: PostState
    created_at: datetime
    since: datetime
    """The time from which on the post's age counts: its creation, or the last requested retry."""
    next_at: datetime | None = None
    """The time of the next attempt. None while the post waits behind another one of its conversation, and after its
    end."""
    attempts: int = 0
    """The number of times that the post was taken. It also tells an old report from the newest."""
    holder: str | None = None
    """The lock of the process that carries the post."""
    error: str | None = None
    """The reason why the last attempt failed."""


class PostRefusal(NamedTuple):
    """The refusal of a post: the receiver did not accept it, or could not be reached."""

    reason: str
    is_final: bool = False
    """True if a retry would have the same result."""
    retry_after: timedelta | None = None
    """The pause that the receiver asked for, or None."""


class PostAcceptance(NamedTuple):
    """The acceptance of a post by its receiver."""


class OutgoingPost(NamedTuple):
    """A post that was taken, with its message."""

    post: Post
    message: Message


def new_post(
    delivery: DeliveryId, channel: AgentName, conversation: str, message: Message, now: datetime, *, waits: bool
) -> Post:
    """Return the post of a delivery. It `waits` if an older post of its conversation is still pending."""
    next_at = None if waits else now
    return Post(delivery, channel, conversation, message.id, PostState.PENDING, now, now, next_at)


def post_moved(post: Post, move: PostMove) -> Post:
    """Return the post after `move`, without a holder and without a time for the next attempt. Raise IllegalMove for a
    move that is not in the table."""
    state = POST_MOVES[post.state].get(move)
    if state is None:
        raise IllegalMove("post", post.state, move)
    return post._replace(state=state, next_at=None, holder=None)


def taken(post: Post, holder: str, until: datetime) -> Post:
    """Return the post as taken by `holder`. No other process takes it before `until`, unless the holder ends first."""
    return post_moved(post, PostMove.TAKE)._replace(holder=holder, next_at=until, attempts=post.attempts + 1)


def delivered(post: Post) -> Post:
    """Return the post after the receiver accepted it."""
    return post_moved(post, PostMove.DELIVER)._replace(error=None)


def refused(post: Post, refusal: PostRefusal, now: datetime) -> tuple[Post, PostMove]:
    """Return the post after a refusal, and the move: DEFER for a later retry, or FAIL."""
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
    """Return a failed post as pending again, with its age and its attempts reset."""
    return post_moved(post, PostMove.RETRY)._replace(since=now, attempts=0, next_at=None if waits else now)


def conversation_of(channel: AgentName, message: Message, answered: Message | None) -> str:
    """Return the conversation of a channel that a message belongs to: the one in its callback, or in that of the
    answered message; otherwise the channel's own."""
    for carrier in (message, answered):
        if carrier is not None and carrier.callback is not None and carrier.callback.channel == channel:
            return carrier.callback.session_id
    return ""


MAX_CONVERSATION_CHARS: Final = 256
MAX_PERSON_CHARS: Final = 128

OWN: Final = ""
"""The conversation of a channel that has only one. Its binding is the default for conversations without their own."""


class Binding(NamedTuple):
    channel: AgentName
    conversation: str
    to: Address
    """An agent, or one session of it by key or id."""
    bound_at: datetime


def parse_conversation(text: object) -> str:
    """Parse the name of a conversation, as its channel gives it."""
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_CONVERSATION_CHARS or not text.isprintable():
        raise Invalid("conversation", text, f"use 1 to {MAX_CONVERSATION_CHARS} printable characters")
    return text


def parse_person(text: object) -> str:
    """Parse the name of the person who speaks, as the channel gives it."""
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_PERSON_CHARS or not text.isprintable():
        raise Invalid("person", text, f"use 1 to {MAX_PERSON_CHARS} printable characters")
    return text


def parse_bound(text: object) -> Address:
    """Parse the address that a conversation is bound to: one agent or session."""
    address = parse_address(text)
    if address.kind is AddressKind.EVERYONE:
        raise Invalid("recipient", text, "a conversation is bound to one agent or session")
    return address
