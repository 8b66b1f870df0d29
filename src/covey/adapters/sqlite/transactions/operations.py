"""Operations that wait for their turn, and what came of them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from covey.core.errors import StoreUnconfirmed
from covey.core.ids import MessageId


class Job:
    """An operation, and what came of it."""

    __slots__ = ("error", "filed", "operation", "value")

    def __init__(self, operation: Callable[[Any], Awaitable[Any]]) -> None:
        self.operation = operation
        self.value: Any = None
        self.error: BaseException | None = None
        self.filed: Sequence[MessageId] = ()
        """The messages that it has filed."""

    def fail(self, error: BaseException) -> None:
        """Note what became of the batch; an error that leaves open whether it was kept names the operation's own
        messages."""
        is_open = isinstance(error, StoreUnconfirmed)
        self.error = error.about(self.filed) if is_open else error
