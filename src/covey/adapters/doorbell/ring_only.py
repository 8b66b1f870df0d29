"""Wake-ups for short-lived programs, which ring but never wait."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager

from covey.adapters.doorbell.ring import DoorbellRinger
from covey.core.ids import Topic
from covey.ports.wakeups import Bell


class RingOnly:
    """`Wakeups` without an event loop: `listen` is a programming error."""

    def __init__(self, store: str, runtime: str) -> None:
        self._ringer = DoorbellRinger(store, runtime)

    def ring(self, topics: Collection[Topic]) -> None:
        self._ringer.ring(topics)

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        raise RuntimeError(f"waiting for {', '.join(topics)} needs an event loop: use Engine.connect")

    async def close(self) -> None:
        self._ringer.close()
