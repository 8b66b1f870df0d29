"""Running coroutines without an event loop: those that never suspend."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def finish(awaitable: Awaitable[T]) -> T:
    """Return what `awaitable` comes to. One that suspends is a programming error: an operation of a store awaits
    nothing but its transaction, and a program without an event loop waits for nothing at all."""
    steps = awaitable.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    steps.close()
    raise RuntimeError("an operation awaits nothing but its transaction: this one waited for something else")


Complete = Callable[[Coroutine[Any, Any, None]], Awaitable[None]]
"""Runs a coroutine to its end, also if the caller is cancelled meanwhile."""


async def complete(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, for programs without an event loop: nothing cancels their callers."""
    await work
