"""The stacks of a process's threads and tasks, written to a file when the process gets a signal.

A test uses them to describe a worker that has stopped making progress.
"""

import asyncio
import gc
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import cast

ASKED = signal.SIGUSR1


def tell_where(path: Path) -> None:
    """Write the stacks to `path` whenever the process gets the signal. Call from the main thread."""

    def tell(_number: int, frame: FrameType | None) -> None:
        del frame
        path.write_text("\n".join(_places()))

    signal.signal(ASKED, tell)


def _places() -> Iterator[str]:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():  # pyright: ignore[reportPrivateUsage] # nothing else shows all threads
        yield f"thread {names.get(ident, ident)}\n" + "".join(traceback.format_stack(frame))
    for thing in gc.get_objects():
        if isinstance(thing, asyncio.Task):
            task = cast("asyncio.Task[object]", thing)
            if not task.done():
                yield f"task {task!r}\n" + "".join(_chain(task))


def _chain(task: "asyncio.Task[object]") -> Iterator[str]:
    """Yield the frames of a task, from the outermost coroutine to the innermost."""
    awaited: object = task.get_coro()
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is None:
            yield f"  waits for {awaited!r}\n"
            return
        yield f'  File "{frame.f_code.co_filename}", line {frame.f_lineno}, in {frame.f_code.co_name}\n'
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
