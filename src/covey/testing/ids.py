"""Ids that count, so that a run can be repeated."""

from datetime import datetime
from itertools import count

from covey.core.ids import MessageId, OfferId, SessionId


class CountingIds:
    """Valid ids, the same in every run. Its secrets keep nobody out."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def message_id(self, now: datetime) -> MessageId:
        return MessageId(f"{round(now.timestamp() * 1000):013d}-{self._uuid()}")

    def session_id(self) -> SessionId:
        return SessionId(self._uuid())

    def offer_id(self) -> OfferId:
        return OfferId(self._uuid())

    def secret(self) -> str:
        return f"secret-{self._uuid()}"

    def _uuid(self) -> str:
        return numbered_uuid(next(self._numbers))


def numbered_uuid(number: int) -> str:
    """Return a valid uuid (version 4 in form) that shows its number."""
    return f"{number:08x}-0000-4000-8000-{number:012x}"
