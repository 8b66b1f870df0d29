"""Channels to people, with their posts and bindings, and the peers' wire: inboxes as subjects of a broker, for foreign
programs that know nothing else of Covey."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from covey.core.channels.post import Binding, OutgoingPost, Post, PostAcceptance, PostRefusal, PostState
from covey.core.names import AgentName, DeliveryId, MessageId, SessionId


class Channel(Protocol):
    """A transport that carries posts to people, at least once.

    A post may be carried more than once: if its answer was lost, or the process that carried it died. Its id is the
    same each time, so that a receiver can ignore a repetition.
    """

    async def post(self, outgoing: OutgoingPost) -> PostAcceptance | PostRefusal:
        """Carry one post, and return whether the receiver accepted it. A failure of the receiver or of the connection
        is a `Refused` and not an error. The call always ends, well within `covey.core.limits.POST_LEASE`."""
        ...


class Posts(Protocol):
    """Posts to people, by the delivery's id. The cost of `due`, `head` and `held` does not grow with posts that are
    finished or wait behind others."""

    async def get(self, post_id: DeliveryId) -> Post | None:
        """Return the post, pending or not, or None."""
        ...

    async def put(self, post: Post) -> None:
        """Add or replace the post."""
        ...

    async def due(self, channel: AgentName, until: datetime, limit: int) -> Sequence[Post]:
        """Return the first `limit` pending posts of the channel that have a `next_at` by `until`: by that time, then in
        the order in which they were first put."""
        ...

    async def held(self, channel: AgentName) -> Sequence[Post]:
        """Return the pending posts of the channel that have a holder, in the order in which they were first put."""
        ...

    async def head(self, channel: AgentName, conversation: str) -> Post | None:
        """Return the pending post of the conversation that was put first, or None."""
        ...

    async def find(self, channel: AgentName, state: PostState, limit: int) -> Sequence[Post]:
        """Return the newest `limit` posts of the channel in that state, in the order in which they were first put."""
        ...


class Bindings(Protocol):
    """The bindings of conversations to agents and sessions."""

    async def get(self, channel: AgentName, conversation: str) -> Binding | None:
        """Return the binding of exactly this conversation, or None."""
        ...

    async def put(self, binding: Binding) -> None:
        """Add the binding, or replace the one of the same conversation."""
        ...

    async def remove(self, channel: AgentName, conversation: str) -> None:
        """Remove the binding of the conversation, if there is one."""
        ...

    async def all(self) -> Sequence[Binding]:
        """Return every binding, by channel, then by conversation."""
        ...


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
