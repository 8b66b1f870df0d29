"""Routes: a cache of the places of messages that begin a thread, for further messages of the same kind.

A sender usually sends again to the same recipient. As long as no agent, session or setting changes, the rules have the
same result for the next message; only the room in the inbox has to be checked.
"""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.address import Address
from covey.core.directory.capacity import Capacity
from covey.core.directory.routing import supersedes
from covey.core.identity import Identity
from covey.core.ids import InboxId
from covey.core.ledger.message import Kind, Message
from covey.core.names import AgentName
from covey.services.mail.recipients import SendPolicy

Alike = tuple[Identity, Address, Kind, Sequence[AgentName], SendPolicy]
"""The properties of a message on which the rules depend."""


def alike(message: Message, policy: SendPolicy, answered: Message | None) -> Alike | None:
    """Return the facts that the rules go by for a message that begins something, has one address, takes the place of no
    other, and is neither claimed nor waited for. None for any other message, because the rules go by more facts."""
    to, kind = message.to, message.kind
    if (
        answered is not None
        or message.root != message.id
        or len(to) != 1
        or kind is Kind.TASK
        or policy.waits
        or policy.takes
        or supersedes(message)
    ):
        return None
    return message.sender, to[0], kind, message.trace, policy


class Route(NamedTuple):
    agent: AgentName
    places: Sequence[tuple[InboxId, Capacity]]


class Routes:
    """The routes of one directory version (`Transaction.moment`)."""

    def __init__(self) -> None:
        self._moment: int | None = None
        self._known: dict[Alike, Route] = {}

    def find(self, like: Alike, moment: int) -> Route | None:
        """Return the route of the messages that are alike, if one of them was placed at this moment."""
        if moment != self._moment:
            self._moment = moment
            self._known = {}
        return self._known.get(like)

    def keep(self, like: Alike, route: Route, moment: int) -> None:
        """Cache a message's route, if the directory version is still the same."""
        if moment == self._moment:
            self._known[like] = route
