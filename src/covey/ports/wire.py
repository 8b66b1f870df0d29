"""The peers' wire: inboxes as subjects of a broker, for foreign programs that know nothing else of Covey."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from covey.core.ids import MessageId, SessionId


class Arrival(NamedTuple):
    """A payload that was published to an inbox."""

    seq: int
    """The sequence number in the stream."""
    at: datetime
    """The time of arrival, by the broker's clock."""
    subject: str
    payload: bytes
    is_ours: bool = False
    """True if a program of this space published the payload."""


class Wire(Protocol):
    """Payloads that are published to inboxes. The broker retains them for some minutes. Any method may raise
    Unavailable."""

    @property
    def stream(self) -> str:
        """The stream that retains arrivals. Together with a sequence number, it identifies an arrival."""
        ...

    async def may_receive(self) -> bool:
        """Tell whether this program may accept payloads of foreign programs, which means acting in their names."""
        ...

    async def keep(self) -> None:
        """Make the broker retain payloads from now on, also without a reader."""
        ...

    async def tell(self, session_id: SessionId, payload: bytes, message_id: MessageId) -> None:
        """Publish a payload to an inbox outside of this space. It is not known whether a program listens there."""
        ...

    async def arrivals(self, after: int, seconds: float) -> Sequence[Arrival]:
        """Return the retained arrivals after a sequence number, oldest first. If there are none, wait for up to
        `seconds`."""
        ...

    async def arrival(self, seq: int) -> Arrival | None:
        """Return the arrival with a sequence number; None if it is no longer retained."""
        ...
