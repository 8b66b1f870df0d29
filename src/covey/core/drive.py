"""Driving a coroutine that never suspends, which needs no event loop."""

from collections.abc import Awaitable
from typing import TypeVar

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
