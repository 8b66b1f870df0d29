"""Following the journal: events after a position, then new events as its bell announces them."""

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
"""Timeout of one wait. If the caller set no limit, another wait follows."""

Show = Callable[[Sequence[Event]], Awaitable[bool]]
"""Shows events, and returns True if it wants more."""


async def follow(services: Services, after: int, show: Show, wanted: EventFilter, seconds: float | None) -> None:
    """Show events after a position in order, and continue with new ones.

    Stop when `show` wants no more, or after that many seconds.
    """
    clock = services.clock
    ends_at = None if seconds is None else clock.monotonic() + seconds

    async def look() -> Sequence[Event] | None:
        nonlocal after
        check_reader()
        newest = await services.history.last()
        page = await services.history.read(after, PAGE, wanted)
        # A page that is not full means that all matching events were read. Events that do not match are then skipped
        # next time.
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
    """Return a position after which every event happened later than `since`.

    The journal is ordered by time, so a binary search reads only a few events.
    """
    low, high = 0, await history.last()
    while low < high:
        middle = (low + high) // 2
        events = await history.read(middle, 1)
        if not events or events[0].at > since:
            high = middle  # no older event after it is visible here
        else:
            low = events[0].position
    return low
