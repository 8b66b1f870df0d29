"""Live: a verb that waits gets an event loop and a space whose bells it hears, and lets go of both on Ctrl-C."""

import asyncio
import select
import signal
import sys
from collections.abc import Awaitable, Callable
from threading import current_thread, main_thread
from typing import TypeVar

from covey.engines import connect, engine_of
from covey.services.space import Services
from covey.surfaces.cli.call import Call

T = TypeVar("T")


def run_live(call: Call, work: Callable[[Services], Awaitable[T]]) -> T:
    """Return what `work` comes to. Ctrl-C cancels it, everything is closed, and KeyboardInterrupt is raised."""
    hears_keys = signal.getsignal(signal.SIGINT) is signal.default_int_handler and current_thread() is main_thread()
    is_interrupted = False

    def interrupt(task: asyncio.Task[T] | None) -> None:
        nonlocal is_interrupted
        is_interrupted = True
        if task is not None:
            task.cancel()

    async def run() -> T:
        if hears_keys:
            # In a turn of its own. The handler that asyncio brings along cancels between any two steps of a callback.
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt, asyncio.current_task())
        call.tell_of_new_space()
        if not engine_of(call.url).capabilities.is_shared:
            return await work(call.services)  # a second connection would be to another, empty space
        is_open = False

        def report(what: str, done: int, total: int | None) -> None:
            if not is_open:  # from then on the screen is the verb's
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
    """See to it that the space is there, which may take long at first."""


def check_reader() -> None:
    """Raise BrokenPipeError where stdout is a pipe that nobody reads any more: `covey watch | head -1` then ends at
    once, and not when it has something more to say."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # a stand-in for stdout that is no file
        return
    poll = select.poll()
    poll.register(descriptor, 0)
    if any(event & select.POLLERR for _, event in poll.poll(0)):
        raise BrokenPipeError
