"""Wake-ups that never come: the store is the truth, so everything must still be found."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager

from covey.core.ids import Topic
from covey.ports.wakeups import Bell, Wakeups


class DeafWakeups:
    """Drops every ring; bells can be listened to, and run into their timeouts."""

    def __init__(self, wakeups: Wakeups) -> None:
        self._wakeups = wakeups
        self.dropped = 0

    def ring(self, topics: Collection[Topic]) -> None:
        self.dropped += len(topics)

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        return self._wakeups.listen(topics)

    async def close(self) -> None:
        await self._wakeups.close()
