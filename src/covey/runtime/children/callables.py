"""The launcher `python`: an async callable in a task group that the caller owns."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, cast

from covey.core.errors import CoveyError, LauncherUnavailable
from covey.core.work.run import RunState
from covey.ports.children import Errand, Group, Product, PythonChild

GRACE_S: Final = 5.0
"""Time limit of a cancelled callable to end."""

CANCELLED: Final = "it was cancelled"

Start = Callable[[Coroutine[Any, Any, None]], object]


class RunningCallable:
    """A callable that does an errand of a child. Its reports are kept, however it ends."""

    def __init__(self, python: PythonChild, errand: Errand) -> None:
        self._python = python
        self._errand = errand
        self._reported: list[str] = []
        self._why: str | None = None
        self._task: asyncio.Task[Any] | None = None
        self._product: asyncio.Future[Product] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Run the callable to its end. Raises only CancelledError, after a cancellation that did not come from
        `stop`."""
        self._task = asyncio.current_task()
        product = Product(RunState.STOPPED, reason=self._why or CANCELLED)
        try:
            if self._why is None:
                product = await self._call()
        except asyncio.CancelledError:
            product = self._broken_off(RunState.STOPPED, self._why or CANCELLED)
            if self._why is None:
                raise
        finally:
            if not self._product.done():
                self._product.set_result(product)

    async def _call(self) -> Product:
        limit = self._errand.child.run.time_limit
        clock = asyncio.timeout(limit)
        try:
            async with clock:
                return await self._python.call(self._errand, self._reported.append)
        except Exception as error:  # noqa: BLE001 - any error of a child is its outcome
            if clock.expired():
                return self._broken_off(RunState.TIMED_OUT, f"it took longer than its time limit of {limit:g} s")
            words = error.message if isinstance(error, CoveyError) else f"{type(error).__name__}: {error}"
            return self._broken_off(RunState.FAILED, words)

    def over(self, _task: object) -> None:
        """Record the end of the task, even if it was cancelled before its first step."""
        if not self._product.done():
            self._product.set_result(Product(RunState.STOPPED, reason=self._why or CANCELLED))

    async def wait(self) -> Product:
        """Return the product. A cancellation leaves the callable running."""
        return await asyncio.shield(self._product)

    async def stop(self, why: str) -> Product:
        """Cancel the callable. If it ignores the cancellation, it is left alone after `GRACE_S`."""
        self._why = why
        if self._task is not None:
            self._task.cancel()
        try:
            async with asyncio.timeout(GRACE_S):
                return await self.wait()
        except TimeoutError:
            return self._broken_off(RunState.STOPPED, why)

    def _broken_off(self, state: RunState, reason: str) -> Product:
        reported = "\n".join(self._reported)
        text = f"{reason}.\n\nWhat it reported until then:\n{reported}" if reported else reason
        return Product(state, text, reason=reason)


def start_callable(python: PythonChild, errand: Errand, start: Start) -> RunningCallable:
    """Start a callable as a concurrent task."""
    running = RunningCallable(python, errand)
    task = start_in(python.group, running.run(), start)
    if isinstance(task, asyncio.Task):
        cast("asyncio.Task[object]", task).add_done_callback(running.over)
    return running


def start_in(group: Group | None, work: Coroutine[Any, Any, None], start: Start) -> object:
    """Start work in the given group, or with `start` if there is none."""
    try:
        return (start if group is None else group.create_task)(work)
    except RuntimeError as error:  # the group has ended, or was never entered
        work.close()
        raise LauncherUnavailable(str(error)) from None
