"""Queued operations and their results."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from covey.core.errors import StoreUnconfirmed
from covey.core.ids import MessageId


class Job:
    """An operation and its result."""

    __slots__ = ("error", "filed", "operation", "value")

    def __init__(self, operation: Callable[[Any], Awaitable[Any]]) -> None:
        self.operation = operation
        self.value: Any = None
        self.error: BaseException | None = None
        self.filed: Sequence[MessageId] = ()
        """Messages that the operation has filed."""

    def fail(self, error: BaseException) -> None:
        """Record the error of the batch. If the error leaves durability unknown, it names this operation's own
        messages."""
        is_open = isinstance(error, StoreUnconfirmed)
        self.error = error.about(self.filed) if is_open else error
