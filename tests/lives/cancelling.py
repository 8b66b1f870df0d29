"""Cancellation of an operation at each point where it suspends, one point after the other, until it completes."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from typing import Any, Literal, cast

When = Literal["early", "late"]
"""The moment of the cancellation.

Early: as soon as the operation suspends. Late: after the awaited event, and before the operation is resumed. A commit
is thus cancelled once before its turn and once when it is durable.
"""

MOST_PLACES = 2000
LIMIT_S = 60.0


class _Cancelling:
    """An awaitable that runs an operation, and cancels its task at the `place`th suspension."""

    def __init__(self, operation: Coroutine[Any, Any, object], place: int, when: When, again: bool) -> None:
        self._operation = operation
        self._place = place
        self._again = again
        self._when: When = when
        self.has_cancelled = False

    def __await__(self) -> Generator[Any, Any, object]:
        steps = self._operation.__await__()
        suspended, go_on = 0, partial(steps.send, None)
        while True:
            try:
                waits_for = go_on()
            except StopIteration as end:
                return end.value
            suspended += 1
            if suspended == self._place or (self._again and suspended > self._place):
                self._cancel(waits_for)
            try:
                go_on = partial(steps.send, (yield waits_for))
            except BaseException as error:  # noqa: BLE001 - the operation gets it
                go_on = partial(steps.throw, error)

    def _cancel(self, waits_for: object) -> None:
        task = asyncio.current_task()
        assert task is not None
        if self._when == "late" and isinstance(waits_for, asyncio.Future):
            future = cast("asyncio.Future[object]", waits_for)
            future.add_done_callback(lambda _: self._now(task))  # before the task's own callback, which wakes it
        else:
            self._now(task)

    def _now(self, task: "asyncio.Task[Any]") -> None:
        self.has_cancelled = True
        task.cancel()


async def cancel_everywhere(
    operation: Callable[[], Coroutine[Any, Any, object]],
    check: Callable[[str], Awaitable[None]],
    when: When,
    *,
    again: bool = False,
) -> int:
    """Run the operation repeatedly, cancelled one suspension later each time, and `check` after each run.

    Return the number of suspensions. Fail if the operation swallows its cancellation. With `again`, the operation is
    cancelled at each later suspension too, as anyio's cancel scopes do.
    """
    for place in range(1, MOST_PLACES):
        cancelling = _Cancelling(operation(), place, when, again)
        task = asyncio.ensure_future(_run(cancelling))
        done, _ = await asyncio.wait({task}, timeout=LIMIT_S)
        assert done, f"cancelled {when} at place {place}, it does not end"
        if not task.cancelled():
            task.result()
            assert not cancelling.has_cancelled, f"cancelled {when} at place {place}, it went on"
        await check(f"cancelled {when} at place {place}")
        if not cancelling.has_cancelled:
            return place - 1
    raise AssertionError("it suspends without end")


async def _run(cancelling: _Cancelling) -> None:
    await cancelling
