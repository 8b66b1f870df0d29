"""The peers' wire: inboxes as subjects of a broker, for programs that know nothing else of us."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from covey.core.ids import MessageId, SessionId


class Arrival(NamedTuple):
    """Something that was published to an inbox."""

    seq: int
    """Where it stands among all; they are numbered in their order."""
    at: datetime
    """When it arrived, by the broker's clock."""
    subject: str
    payload: bytes
    is_ours: bool = False
    """Whether a program of this space published it."""


class Wire(Protocol):
    """What is published to inboxes, kept for some minutes by the broker. Any method may raise Unavailable."""

    @property
    def stream(self) -> str:
        """Where arrivals are kept; with their numbers it says which one is meant."""
        ...

    async def may_receive(self) -> bool:
        """Tell whether this program may take in what others say: it speaks in their names then."""
        ...

    async def keep(self) -> None:
        """See to it that what is published from now on is kept, also where nobody has asked for it yet."""
        ...

    async def tell(self, session_id: SessionId, payload: bytes, message_id: MessageId) -> None:
        """Publish something to an inbox that is not of this space. Whether anybody listens there is not known."""
        ...

    async def arrivals(self, after: int, seconds: float) -> Sequence[Arrival]:
        """Return what arrived after a number and is still kept, oldest first; wait a while where there is nothing."""
        ...

    async def arrival(self, seq: int) -> Arrival | None:
        """Return what has a number; None where it is no longer kept."""
        ...
