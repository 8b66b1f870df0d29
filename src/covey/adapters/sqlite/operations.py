"""Operations: driven to their end without an event loop, because nothing that they await ever suspends."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Job:
    """An operation, and what came of it."""

    __slots__ = ("error", "operation", "value")

    def __init__(self, operation: Callable[[Any], Awaitable[Any]]) -> None:
        self.operation = operation
        self.value: Any = None
        self.error: BaseException | None = None


def finish(awaitable: Awaitable[T]) -> T:
    """Return what `awaitable` comes to. One that suspends awaited something that is not its transaction."""
    steps = awaitable.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    steps.close()
    raise RuntimeError("an operation awaits nothing but its transaction: this one waited for something else")
