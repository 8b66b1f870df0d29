"""The pump: carries the posts of one channel, several at once, those of one conversation in their order."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from covey.core.backoff import Backoff
from covey.core.channels.post import Outgoing, Post, Posted
from covey.core.ids import inbox_topic, parked_inbox
from covey.core.limits import RECHECK_SECONDS
from covey.core.names import AgentName
from covey.ports.channels import Channel
from covey.runtime.retrying import retried
from covey.services.channels.posts import Batch
from covey.services.space import Services

T = TypeVar("T")

WIDTH: Final = 8
"""How many posts are on their way at once: more conversations wait for a slow receiver's answer."""

LONGEST_WAIT: Final = 3600.0
"""How long one wait is at most; then it waits again."""

STEADY: Final = Backoff(RECHECK_SECONDS, RECHECK_SECONDS)
"""Seconds between tries of a space that is unavailable."""

Tell = Callable[[Outgoing, Post], None]
"""Told of every attempt: what was carried, and the post as it is then."""

Note = Callable[[str], None]
"""Told where the space can't answer just now."""


class Pump:
    """Any number of them may serve a channel, in any number of processes: a post is taken by one. What a pump has on
    its way when its process ends is taken by the next, with the same id."""

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
        """Carry what is due, and go on as more comes."""
        async with asyncio.TaskGroup() as group:
            batch = Batch((), None)
            while True:
                batch = await self._retried(lambda known=batch: self._wait(known))
                self._launch(batch, group)

    async def drain(self) -> None:
        """Carry what is due now, and end."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._landed.clear()
                batch = await self._retried(self._take)
                self._launch(batch, group)
                if not batch.taken and not self._flying:
                    return
                if not batch.taken:
                    await self._landed.wait()

    def _launch(self, batch: Batch, group: asyncio.TaskGroup) -> None:
        self._flying += len(batch.taken)
        for outgoing in batch.taken:
            group.create_task(self._carry(outgoing))

    async def _carry(self, outgoing: Outgoing) -> None:
        try:
            answer = await self._channel.post(outgoing)
            posts, post = self._services.posts, outgoing.post
            after = await self._retried(
                lambda: posts.delivered(post.id) if isinstance(answer, Posted) else posts.refused(post, answer)
            )
            self._tell(outgoing, after)
        finally:
            self._flying -= 1
            self._landed.set()

    async def _take(self) -> Batch:
        room = self._width - self._flying
        return await self._services.posts.take(self._name, room) if room > 0 else Batch((), None)

    async def _wait(self, known: Batch) -> Batch:
        """Return the next posts, or nothing but the news that the next will be due at another time than was known."""
        while self._flying >= self._width:
            self._landed.clear()
            await self._landed.wait()

        async def look() -> Batch | None:
            batch = await self._take()
            return batch if batch.taken or batch.next_at != known.next_at else None

        left = LONGEST_WAIT
        if known.next_at is not None:
            left = (known.next_at - self._services.clock.now()).total_seconds()
        topic = inbox_topic(parked_inbox(self._name))
        found = await self._services.waiting.until([topic], look, min(max(left, 0.0), LONGEST_WAIT))
        return found or Batch((), None)

    async def _retried(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `work`, however long the space is busy or its disk full."""
        return await retried(work, self._note, STEADY)
