"""The pump: it delivers the posts of one channel, several at once, and those of one conversation in order."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from covey.core.backoff import Backoff
from covey.core.channels.post import OutgoingPost, Post, PostAcceptance
from covey.core.limits import RECHECK_SECONDS
from covey.core.names import AgentName, inbox_topic, parked_inbox
from covey.ports.channels import Channel
from covey.runtime.retry import retried
from covey.services.channels.outbox import PostBatch
from covey.services.space import Services

T = TypeVar("T")

WIDTH: Final = 8
"""Number of posts in flight at once; further conversations wait for a slow receiver."""

LONGEST_WAIT: Final = 3600.0
"""Longest single wait; the pump then waits again."""

STEADY: Final = Backoff(RECHECK_SECONDS, RECHECK_SECONDS)
"""Seconds between retries while the space is unavailable."""

Tell = Callable[[OutgoingPost, Post], None]
"""Called after every attempt, with the outgoing post and its new state."""

Note = Callable[[str], None]
"""Called when the space is unavailable."""


class Pump:
    """A pump of one channel. Several pumps may serve a channel, in several processes: each post is taken by one. If a
    process ends, the next pump delivers its posts in flight, with the same ids."""

    def __init__(
        self, services: Services, name: AgentName, channel: Channel, tell: Tell, note: Note, width: int = WIDTH
    ) -> None:
        self._services = services
        self._name = name
        self._channel = channel
        self._tell = tell
        self._note = note
        self._width = width
        self._flying = 0
        self._landed = asyncio.Event()

    async def run(self) -> None:
        """Deliver all due posts, and continue with later ones."""
        async with asyncio.TaskGroup() as group:
            batch = PostBatch((), None)
            while True:
                batch = await self._retried(lambda known=batch: self._wait(known))
                self._launch(batch, group)

    async def drain(self) -> None:
        """Deliver the posts that are due now, and return."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._landed.clear()
                batch = await self._retried(self._take)
                self._launch(batch, group)
                if not batch.taken and not self._flying:
                    return
                if not batch.taken:
                    await self._landed.wait()

    def _launch(self, batch: PostBatch, group: asyncio.TaskGroup) -> None:
        self._flying += len(batch.taken)
        for outgoing in batch.taken:
            group.create_task(self._carry(outgoing))

    async def _carry(self, outgoing: OutgoingPost) -> None:
        try:
            answer = await self._channel.post(outgoing)
            posts, post = self._services.posts, outgoing.post
            after = await self._retried(
                lambda: posts.delivered(post.id) if isinstance(answer, PostAcceptance) else posts.refused(post, answer)
            )
            self._tell(outgoing, after)
        finally:
            self._flying -= 1
            self._landed.set()

    async def _take(self) -> PostBatch:
        room = self._width - self._flying
        return await self._services.posts.take(self._name, room) if room > 0 else PostBatch((), None)

    async def _wait(self, known: PostBatch) -> PostBatch:
        """Return the next posts, or an empty batch if only the time of the next due post has changed."""
        while self._flying >= self._width:
            self._landed.clear()
            await self._landed.wait()

        async def look() -> PostBatch | None:
            batch = await self._take()
            return batch if batch.taken or batch.next_at != known.next_at else None

        left = LONGEST_WAIT
        if known.next_at is not None:
            left = (known.next_at - self._services.clock.now()).total_seconds()
        topic = inbox_topic(parked_inbox(self._name))
        found = await self._services.waiting.until([topic], look, min(max(left, 0.0), LONGEST_WAIT))
        return found or PostBatch((), None)

    async def _retried(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `work`, with retries for as long as the space is unavailable."""
        return await retried(work, self._note, STEADY)
