"""Fakes for tests: a clock that is set by hand, ids in a fixed order, and wake-ups that are lost."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from itertools import count

from covey.core.names import MessageId, OfferId, SessionId, Topic
from covey.ports.clock import Bell, Wakeups


class HandClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = now
        self._monotonic = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> datetime:
        """Let time pass on the wall clock and the monotonic clock. Return the new wall-clock time."""
        if seconds < 0:
            raise ValueError("time does not pass backwards: `jump` does that")
        self._monotonic += seconds
        return self.jump(seconds)

    def jump(self, seconds: float) -> datetime:
        """Set the wall clock forward or back, as an administrator does. No monotonic time passes. Return the new
        time."""
        self._now += timedelta(seconds=seconds)
        return self._now


class CountingIds:
    """Valid ids, the same in every run. The secrets can be guessed."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def message_id(self, now: datetime) -> MessageId:
        return MessageId(f"{round(now.timestamp() * 1000):013d}-{self._uuid()}")

    def session_id(self) -> SessionId:
        return SessionId(self._uuid())

    def offer_id(self) -> OfferId:
        return OfferId(self._uuid())

    def secret(self) -> str:
        return f"secret-{self._uuid()}"

    def _uuid(self) -> str:
        return numbered_uuid(next(self._numbers))


def numbered_uuid(number: int) -> str:
    """Return a valid uuid (version 4 in form) that shows its number."""
    return f"{number:08x}-0000-4000-8000-{number:012x}"


class DeafWakeups:
    """Wake-ups that drop every ring of this object. Waits on their bells run into the timeout."""

    def __init__(self, wakeups: Wakeups) -> None:
        self._wakeups = wakeups
        self.dropped = 0

    def ring(self, topics: Collection[Topic]) -> None:
        self.dropped += len(topics)

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        return self._wakeups.listen(topics)

    async def close(self) -> None:
        await self._wakeups.close()
