"""Operations that wait for their turn, and what came of them."""

from collections.abc import Awaitable, Callable
from typing import Any


class Job:
    """An operation, and what came of it."""

    __slots__ = ("error", "operation", "value")

    def __init__(self, operation: Callable[[Any], Awaitable[Any]]) -> None:
        self.operation = operation
        self.value: Any = None
        self.error: BaseException | None = None
