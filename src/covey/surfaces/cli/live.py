"""Live verbs: a verb that waits gets an event loop and a space with bells, and closes both on Ctrl-C."""

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
