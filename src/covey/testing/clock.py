"""A clock that is turned by hand."""

from datetime import UTC, datetime, timedelta


class HandClock:
    """Stands still until a test moves it."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = now
        self._monotonic = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> datetime:
        """Let time pass, on both scales; return the new time."""
        if seconds < 0:
            raise ValueError("time does not pass backwards: `jump` does that")
        self._monotonic += seconds
        return self.jump(seconds)

    def jump(self, seconds: float) -> datetime:
        """Set the clock forward or back, as an administrator does; no time passes. Return the new time."""
        self._now += timedelta(seconds=seconds)
        return self._now
