"""Records that can't be read: what a decoder stumbles over is damage, and is told as such."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from covey.adapters.sqlite.connection import Row
from covey.core.errors import CoveyError, RecordDamaged

T = TypeVar("T")

Decode = Callable[[Row], T]


def record_of(table: str) -> Callable[[Decode[T]], Decode[T]]:
    """Return a decorator for the decoder of a table's rows: a row that no Covey has written is RecordDamaged."""

    def decorate(decode: Decode[T]) -> Decode[T]:
        @wraps(decode)
        def decoded(row: Row) -> T:
            try:
                return decode(row)
            except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, CoveyError) as error:
                raise RecordDamaged(table, str(error) or type(error).__name__) from error

        return decoded

    return decorate
