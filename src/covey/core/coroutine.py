"""Coroutines that never suspend, run without an event loop."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def finish(awaitable: Awaitable[T]) -> T:
    """Run `awaitable` to its end and return its result. If it suspends, raise RuntimeError: an operation of a store may
    await nothing but its transaction, and a program without an event loop can't wait."""
    steps = awaitable.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    steps.close()
    raise RuntimeError("an operation may await only its transaction: this one awaited something else")


Complete = Callable[[Coroutine[Any, Any, None]], Awaitable[None]]
"""Runs a coroutine to its end, also if the caller is cancelled meanwhile."""


async def complete(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, for programs without an event loop: nothing cancels their callers."""
    await work
