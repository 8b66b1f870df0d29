"""The outbox of channels: due posts are taken for delivery to people, and the results are recorded."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.channels.post import (
    END_OF_TIME,
    OutgoingPost,
    Post,
    PostMove,
    PostRefusal,
    PostState,
    delivered,
    post_moved,
    refused,
    retried,
    taken,
)
from covey.core.directory.session import Holder
from covey.core.errors import ChannelUnknown, IllegalMove, PostUnknown
from covey.core.identity import Identity
from covey.core.ledger.delivery import WAITING, Move, state_at
from covey.core.limits import POST_LEASE
from covey.core.names import AgentName, DeliveryId, inbox_topic, parked_inbox
from covey.ports.clock import Clock, Ids
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.channels.conversations import let_next, record
from covey.services.mail.notices import report_unposted
from covey.services.records import is_damaged, known_message, message_or_notice

POSTED: Final = "posted"
"""The reason on a channel's delivery that was posted."""

OVER: Final = "its delivery is over"
DAMAGED: Final = "its message is damaged in the store"
"""The reason on a post that was dropped."""


class PostBatch(NamedTuple):
    """The posts that were taken, and the time when the next one is due; None if there is none."""

    taken: Sequence[OutgoingPost]
    next_at: datetime | None


class Outbox:
    """The outbox, as used by the process that carries posts, in the name of the channel's agent."""

    def __init__(self, store: Store, clock: Clock, ids: Ids, liveness: Liveness) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._liveness = liveness

    async def take(self, channel: AgentName, limit: int) -> PostBatch:
        """Take up to `limit` posts that are due, at most one per conversation, or whose holding process has ended. No
        other process gets them until the lease ends. Posts whose delivery is over are dropped."""
        lock = self._liveness.hold().lock or ""

        async def look(tx: Transaction) -> bool:
            return bool(await self._ready(tx, channel, 1))

        async def operation(tx: Transaction) -> Sequence[OutgoingPost]:
            act = Act(tx, Identity(channel), self._clock.now())
            found: list[OutgoingPost] = []
            for post in await self._ready(tx, channel, limit):
                if await self._is_over(tx, post, act.now):
                    await self._end(act, post, post_moved(post, PostMove.DROP)._replace(error=OVER), PostMove.DROP)
                    continue
                if await is_damaged(tx, post.message_id):
                    await self._end(act, post, post_moved(post, PostMove.DROP)._replace(error=DAMAGED), PostMove.DROP)
                    continue
                mine = taken(post, lock, act.now + POST_LEASE)
                await tx.posts.put(mine)
                found.append(OutgoingPost(mine, await known_message(tx, post.message_id)))
            return found

        async def later(tx: Transaction) -> datetime | None:
            first = await tx.posts.due(channel, END_OF_TIME, 1)
            return first[0].next_at if first else None

        batch: Sequence[OutgoingPost] = ()
        while not batch and await self._store.read(look):  # if all were dropped, their successors are due now
            batch = await self._store.commit(operation)
        return PostBatch(batch, await self._store.read(later))

    async def _ready(self, tx: Transaction, channel: AgentName, limit: int) -> Sequence[Post]:
        due = await tx.posts.due(channel, self._clock.now(), limit)
        known = {post.id for post in due}
        orphans = [p for p in await tx.posts.held(channel) if p.id not in known and not self._is_carried(p)]
        return [*orphans, *due][:limit]

    def _is_carried(self, post: Post) -> bool:
        return post.holder is not None and self._liveness.is_held(Holder(lock=post.holder))

    async def _is_over(self, tx: Transaction, post: Post, now: datetime) -> bool:
        delivery = await tx.deliveries.get(post.id)
        return delivery is None or state_at(delivery, now) not in WAITING

    async def delivered(self, post_id: DeliveryId) -> Post:
        """Record that the receiver took a post. The report counts from any process, and however late."""

        async def operation(tx: Transaction) -> Post:
            post = await _known_post(tx, post_id)
            if post.state in (PostState.DELIVERED, PostState.DROPPED):
                return post
            act = Act(tx, Identity(post.channel), self._clock.now())
            after = delivered(post)
            delivery = await tx.deliveries.get(post.id)
            if delivery is not None and delivery.state in WAITING:
                await shift(act, delivery, Move.SETTLE, POSTED)
            await self._end(act, post, after, PostMove.DELIVER)
            return after

        return await self._store.commit(operation)

    async def refused(self, post: Post, refusal: PostRefusal) -> Post:
        """Record that a receiver refused a post. The post is retried later, or fails and its sender is notified. A
        report by a process that lost the post to another one changes nothing."""

        async def operation(tx: Transaction) -> Post:
            known = await _known_post(tx, post.id)
            if known.state is not PostState.PENDING or (known.attempts, known.holder) != (post.attempts, post.holder):
                return known
            act = Act(tx, Identity(post.channel), self._clock.now())
            after, move = refused(known, refusal, act.now)
            if after.state is PostState.FAILED:
                await self._end(act, known, after, move)
                message = await known_message(tx, post.message_id)
                await report_unposted(act, message, after, self._ids, self._liveness)
            else:
                await record(act, known, after, move)
                tx.ring(inbox_topic(parked_inbox(post.channel)))  # wakes the carriers that wait for the next due time
            return after

        return await self._store.commit(operation)

    async def retry(self, post_id: DeliveryId, actor: Identity) -> Post:
        """Retry a failed post from the beginning. Raise IllegalMove if it has not failed, or its delivery is over."""

        async def operation(tx: Transaction) -> Post:
            post = await _known_post(tx, post_id)
            agent = await tx.agents.get(post.channel)
            if agent is None or not agent.card.channel:
                raise ChannelUnknown(post.channel)
            act = Act(tx, actor, self._clock.now())
            waits = await tx.posts.head(post.channel, post.conversation) is not None
            after = retried(post, act.now, waits=waits)
            if await self._is_over(tx, post, act.now):
                raise IllegalMove("post", "over", PostMove.RETRY)
            await record(act, post, after, PostMove.RETRY)
            tx.ring(inbox_topic(parked_inbox(post.channel)))
            return after

        return await self._store.commit(operation)

    async def find(self, channel: AgentName, state: PostState, limit: int = 100) -> Sequence[OutgoingPost]:
        """Return the newest posts of a channel in a state, oldest first, with their messages."""

        async def operation(tx: Transaction) -> Sequence[OutgoingPost]:
            agent = await tx.agents.get(channel)
            found = await tx.posts.find(channel, state, limit)
            if not found and (agent is None or not agent.card.channel):
                raise ChannelUnknown(channel)
            return [OutgoingPost(p, await message_or_notice(tx, p.message_id, p.created_at)) for p in found]

        return await self._store.read(operation, is_long=True)

    async def _end(self, act: Act, before: Post, after: Post, move: PostMove) -> None:
        """Record a post's end, and release the next post of its conversation."""
        await record(act, before, after, move)
        await let_next(act, after.channel, after.conversation)


async def _known_post(tx: Transaction, post_id: DeliveryId) -> Post:
    post = await tx.posts.get(post_id)
    if post is None:
        raise PostUnknown(post_id)
    return post
