"""The machine's clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """A `Clock` by the operating system."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()
