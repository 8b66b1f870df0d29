"""The clock and the source of ids: everything that differs from run to run, so that tests can control it."""

from datetime import datetime
from typing import Protocol

from covey.core.ids import MessageId, OfferId, SessionId


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the present time in UTC."""
        ...

    def monotonic(self) -> float:
        """Return the seconds of a monotonic clock, for measuring durations."""
        ...


class Ids(Protocol):
    def message_id(self, now: datetime) -> MessageId:
        """Return a new id: the milliseconds of `now`, and a random uuid."""
        ...

    def session_id(self) -> SessionId:
        """Return a new random uuid."""
        ...

    def offer_id(self) -> OfferId:
        """Return a new random uuid."""
        ...

    def secret(self) -> str:
        """Return a new random secret."""
        ...
