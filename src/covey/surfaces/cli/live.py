"""Live verbs: a verb that waits gets an event loop, a space with bells, the journal as it grows, and a clock."""

import asyncio
import select
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from threading import current_thread, main_thread
from typing import Final, TypeVar

from covey.core.ledger.event import Event
from covey.core.names import JOURNAL_TOPIC
from covey.engines import connect, engine_of
from covey.ports.ledger import EventFilter
from covey.services.space import Services
from covey.surfaces.cli.call import Call

T = TypeVar("T")


def run_live(call: Call, work: Callable[[Services], Awaitable[T]]) -> T:
    """Return the result of `work`. Ctrl-C cancels it, closes everything and raises KeyboardInterrupt."""
    hears_keys = signal.getsignal(signal.SIGINT) is signal.default_int_handler and current_thread() is main_thread()
    is_interrupted = False

    def interrupt(task: asyncio.Task[T] | None) -> None:
        nonlocal is_interrupted
        is_interrupted = True
        if task is not None:
            task.cancel()

    async def run() -> T:
        if hears_keys:
            # asyncio's own handler can cancel between any two steps of a callback. This one runs in a turn of its own.
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt, asyncio.current_task())
        call.tell_of_new_space()
        if not engine_of(call.url).capabilities.is_shared:
            return await work(call.services)  # a second connection would open another, empty space
        is_open = False

        def report(what: str, done: int, total: int | None) -> None:
            if not is_open:  # after that, the verb owns the screen
                call.report(what, done, total)

        ports = connect(call.url, ["."], report)
        try:
            await ports.store.read(_look)
            is_open = True
            return await work(call.narrow(Services(ports)))
        finally:
            await ports.close()

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        if is_interrupted:
            raise KeyboardInterrupt from None
        raise


async def _look(_transaction: object) -> None:
    """Read nothing: the transaction alone opens the space, which may take long the first time."""


def check_reader() -> None:
    """Raise BrokenPipeError if stdout is a pipe whose reader has closed it.

    So `covey watch | head -1` ends at once, instead of at its next output.
    """
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # stdout is replaced by an object without a file
        return
    poll = select.poll()
    poll.register(descriptor, 0)
    if any(event & select.POLLERR for _, event in poll.poll(0)):
        raise BrokenPipeError


PAGE: Final = 500
WAIT_SECONDS: Final = 3600.0
"""Timeout of one wait. If the caller set no limit, another wait follows."""

ShowEvents = Callable[[Sequence[Event]], Awaitable[bool]]
"""Shows events, and returns True if it wants more."""


async def follow(services: Services, after: int, show: ShowEvents, wanted: EventFilter, seconds: float | None) -> None:
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
        page = await services.passive_waiting.until([JOURNAL_TOPIC], look, max(0.0, left))
        if page is not None and not await show(page):
            return
        if page is None and ends_at is not None and clock.monotonic() >= ends_at:
            return


EVERY_SECONDS: Final = 1.0


@asynccontextmanager
async def ticking(draw: Callable[[], None], is_shown: bool = True) -> AsyncGenerator[None]:
    """Draw at once and again every second while the block runs, if `is_shown` is set."""

    async def tick() -> None:
        while is_shown:
            draw()
            await asyncio.sleep(EVERY_SECONDS)

    ticker = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticker.cancel()
        with suppress(asyncio.CancelledError):
            await ticker
