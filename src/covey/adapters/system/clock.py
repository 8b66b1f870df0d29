"""The machine's clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """The `Clock` of the operating system."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()
