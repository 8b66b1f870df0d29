"""Routes: a cache of the places of messages that begin a thread, for further messages of the same kind.

A sender usually sends again to the same recipient. As long as no agent, session or setting changes, the rules have the
same result for the next message; only the room in the inbox has to be checked.
"""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.address import Address
from covey.core.capacity import Capacity
from covey.core.identity import Identity
from covey.core.ids import InboxId
from covey.core.message import Kind, Message
from covey.core.names import AgentName
from covey.core.routing import supersedes
from covey.services.recipients import SendPolicy

Alike = tuple[Identity, Address, Kind, Sequence[AgentName], SendPolicy]
"""The properties of a message on which the rules depend."""


class Route(NamedTuple):
    agent: AgentName
    places: Sequence[tuple[InboxId, Capacity]]


class Routes:
    """The routes of one directory version (`Transaction.moment`)."""

    def __init__(self) -> None:
        self._moment: int | None = None
        self._known: dict[Alike, Route] = {}

    def find(self, message: Message, policy: SendPolicy, moment: int) -> tuple[Alike, Route | None] | None:
        """Return a message's cache key, and the cached route if any. None if the rules depend on more than the key: a
        message can be cached if it begins a thread, has one address, supersedes no other, and is neither claimed nor
        waited for."""
        to, kind = message.to, message.kind
        if (
            message.root != message.id
            or len(to) != 1
            or kind is Kind.TASK
            or policy.waits
            or policy.takes
            or supersedes(message)
        ):
            return None
        if moment != self._moment:
            self._moment = moment
            self._known = {}
        like = (message.sender, to[0], kind, message.trace, policy)
        return like, self._known.get(like)

    def keep(self, like: Alike, route: Route, moment: int) -> None:
        """Cache a message's route, if the directory version is still the same."""
        if moment == self._moment:
            self._known[like] = route
