"""Routes: where a message goes that begins something, as the rules have said of one like it a moment ago.

Whoever sends to somebody mostly sends again. As long as no agent, session or setting changes, the rules would say the
same of the next message; what is left to look at is whether there is room for it.
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
"""What messages have in common that the rules say the same of."""


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
    """Those that are known at one moment (`Transaction.moment`)."""

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
        """Keep in mind where a message went, if that is still the same moment."""
        if moment == self._moment:
            self._known[like] = route
