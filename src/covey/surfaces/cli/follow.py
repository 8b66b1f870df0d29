"""Following the journal: what happened after a position, and what happens from then on, woken by its bell."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final

from covey.core.ids import JOURNAL_TOPIC
from covey.core.ledger.event import Event
from covey.ports.ledger import EventFilter
from covey.services.care.history import History
from covey.services.space import Services
from covey.surfaces.cli.live import check_reader

PAGE: Final = 500
WAIT_SECONDS: Final = 3600.0
"""How long one wait is at most; where nothing limits the following, it then waits again."""

Show = Callable[[Sequence[Event]], Awaitable[bool]]
"""Shows events, and tells whether it wants more."""


async def follow(services: Services, after: int, show: Show, wanted: EventFilter, seconds: float | None) -> None:
    """Show what happened after a position, in its order, and go on as more happens, until `show` wants no more or so
    many seconds have passed."""
    clock = services.clock
    ends_at = None if seconds is None else clock.monotonic() + seconds

    async def look() -> Sequence[Event] | None:
        nonlocal after
        check_reader()
        newest = await services.history.last()
        page = await services.history.read(after, PAGE, wanted)
        # Where all that fits has been read, what does not fit need not be walked over again.
        after = page[-1].position if len(page) == PAGE else max(after, newest, *(event.position for event in page))
        return page or None

    while True:
        left = WAIT_SECONDS if ends_at is None else min(WAIT_SECONDS, ends_at - clock.monotonic())
        page = await services.onlooking.until([JOURNAL_TOPIC], look, max(0.0, left))
        if page is not None and not await show(page):
            return
        if page is None and ends_at is not None and clock.monotonic() >= ends_at:
            return


async def position_before(history: History, since: datetime) -> int:
    """Return a position after which everything happened later than `since`. The journal grows with time, so this
    takes a look at a few events only."""
    low, high = 0, await history.last()
    while low < high:
        middle = (low + high) // 2
        events = await history.read(middle, 1)
        if not events or events[0].at > since:
            high = middle  # nothing older lies after it that can be seen from here
        else:
            low = events[0].position
    return low
