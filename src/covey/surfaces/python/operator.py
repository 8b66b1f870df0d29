"""The operator in the Python API: the settings of a space, pauses, and the limits of storms."""

from collections.abc import Mapping
from typing import TypedDict, Unpack, cast

from covey.core.authority import check_operator
from covey.core.checks import check_known, flag, text
from covey.core.directory.routing import Pause
from covey.core.identity import Identity
from covey.core.names import AgentName, parse_agent_name, parse_message_id
from covey.core.storms.budget import Limit, Limits, Tree
from covey.core.storms.flow import StormStop
from covey.services.space import Services


class StormLimits(TypedDict, total=False):
    """Options of `set_limits`: limits on a message with all messages that it leads to, and on exchanges."""

    messages: int
    """The messages of a causal tree."""
    depth: int
    """The longest chain in which each message led to the next."""
    hours: int
    """The hours that a tree lasts without a rest of one hour."""
    children: int
    """The sessions that were spawned in a tree."""
    exchange: int
    """The messages that two to five agents exchange without a rest of one hour."""
    progress: int
    """The updates of a task that follow the previous one within 5 seconds."""


class Operator:
    """Returned by `space.operator`. The operator pauses agents, and changes the settings of the space."""

    def __init__(self, identity: Identity, services: Services) -> None:
        check_operator(identity, "change the settings of the space")
        self._identity = identity
        self._services = services

    @property
    def identity(self) -> Identity:
        """The identity that the journal records for every change."""
        return self._identity

    async def pause(self, agent: str | None = None, reason: str = "") -> Pause:
        """Pause an agent, or without a name the whole space: it takes and sends nothing until it is resumed."""
        return await self._services.pauses.pause(_named(agent), self._identity, reason)

    async def resume(self, agent: str | None = None) -> bool:
        """Resume an agent, or without a name the whole space. Return whether it was paused."""
        return await self._services.pauses.resume(_named(agent), self._identity)

    async def pauses(self) -> Mapping[AgentName, Pause]:
        """Return all pauses: agents by name, and the whole space as *."""
        return await self._services.pauses.all()

    async def limits(self) -> Limits:
        """Return the limits of storms."""
        return await self._services.storms.limits()

    async def set_limits(self, **limits: Unpack[StormLimits]) -> Limits:
        """Change some of the limits of storms, for existing and future messages. Return all limits."""
        check_known(limits, StormLimits.__annotations__)
        changes = {Limit(name): value for name, value in cast(Mapping[str, int], limits).items()}
        return await self._services.storms.set_limits(changes, self._identity)

    async def lift(self, message_id: str) -> Tree | StormStop:
        """Lift the stop of an exchange, of a task's progress or of a causal tree, by the id of a message in it. All
        counts start again."""
        return await self._services.storms.lift(parse_message_id(message_id), self._identity)

    async def rounds(self) -> int:
        """Return the largest number of rounds of a negotiation."""
        return await self._services.negotiations.rounds()

    async def set_rounds(self, rounds: int) -> None:
        """Set the largest number of rounds of a negotiation, also for those in progress."""
        await self._services.negotiations.set_rounds(rounds, self._identity)

    async def close_roster(self, closed: bool = True) -> None:
        """Close the roster, or open it again. Agents can still join a closed roster, but messages to unknown names are
        refused."""
        await self._services.policies.close_roster(self._identity, closed=flag(closed, "closed"))

    async def tell_unauthorized(self, told: bool = True) -> None:
        """Set whether a sender whose message a recipient does not accept also gets a notice in its inbox."""
        await self._services.policies.tell_unauthorized(self._identity, told=flag(told, "told"))

    def __repr__(self) -> str:
        return f"<Operator {self._identity}>"


async def operator_by(services: Services, token: object) -> Operator:
    """Return the operator that a token proves. Raise OperatorOnly for the token of an agent."""
    return Operator(await services.identities.by_token(text(token, "token")), services)


def _named(agent: object) -> AgentName | None:
    return None if agent is None else parse_agent_name(agent)
