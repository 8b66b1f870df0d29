"""Settings of a space: policies, which are journalled when they change, and pauses. By a pause an agent, or the whole
space, takes and sends nothing."""

from collections.abc import Mapping
from typing import Final

from covey.core.authority import check_operator
from covey.core.directory.routing import WHOLE, Pause, parse_reason, read_pauses, write_pauses
from covey.core.errors import Paused
from covey.core.identity import Identity
from covey.core.ledger.event import Action
from covey.core.names import AgentName, inbox_topic, parked_inbox
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.records import known_agent

CLOSED_ROSTER: Final = "closed-roster"
"""Only agents that are known already can be written to."""

TELL_UNAUTHORIZED: Final = "tell-unauthorized"
"""A sender whose mail a recipient does not accept is notified in its inbox, not only in its receipt."""

SUBJECTS_ARE_CATEGORIES: Final = "subjects-are-categories"
"""A subject is a category, and not a topic. So a later message does not supersede an earlier one with the same subject,
unless its sender asks for that. This holds in folders that agent loops share, whose subjects are categories of
findings."""

OF_THE_STORE: Final = frozenset({SUBJECTS_ARE_CATEGORIES})
"""Settings that describe a store. They are not copied when a space moves to another store."""

PAUSED: Final = "paused"
"""All pauses of agents and of the space, as one value: so the check costs little for agents that are not paused. Empty
or absent if there is none."""

STOPPED: Final = "stopped-exchanges"
"""The exchanges and tasks that are stopped for a while, as one value for the same reason. Empty or absent if there is
none."""


class Policies:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def close_roster(self, actor: Identity, *, closed: bool = True) -> None:
        """Close the roster, or open it again. Agents can still join a closed roster, but unknown names can't be written
        to."""
        await self._switch(CLOSED_ROSTER, closed, actor)

    async def tell_unauthorized(self, actor: Identity, *, told: bool = True) -> None:
        """Set whether a sender that is not allowed also finds a rejection in its inbox."""
        await self._switch(TELL_UNAUTHORIZED, told, actor)

    async def _switch(self, setting: str, value: bool, actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            await tx.settings.put(setting, "true" if value else "false")
            act = Act(tx, actor, self._clock.now())
            await journal(act, Action.SETTING_CHANGED, setting=setting, value=value)

        await self._store.commit(operation)


async def is_on(tx: Transaction, setting: str) -> bool:
    """Tell whether a policy is switched on."""
    return await tx.settings.get(setting) == "true"


class Pauses:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def pause(self, name: AgentName | None, actor: Identity, reason: str = "") -> Pause:
        """Pause an agent, or with None the whole space. If it is paused already, the reason is replaced."""
        check_operator(actor, "pause agents or the space")
        why = parse_reason(reason)

        async def operation(tx: Transaction) -> Pause:
            act = Act(tx, actor, self._clock.now())
            if name is not None:
                await known_agent(tx, name)
            pause = Pause(actor.agent, act.now, why)
            await tx.settings.put(PAUSED, write_pauses({**await pauses_of(tx), name or WHOLE: pause}))
            await journal(act, Action.PAUSE_BEGUN, agent=name, reason=why)
            return pause

        return await self._store.commit(operation)

    async def resume(self, name: AgentName | None, actor: Identity) -> bool:
        """Resume an agent, or the whole space. Tell whether it was paused. An agent with a pause of its own stays
        paused when the space is resumed."""
        check_operator(actor, "let agents or the space go on")

        async def operation(tx: Transaction) -> bool:
            act = Act(tx, actor, self._clock.now())
            if name is not None:
                await known_agent(tx, name)
            paused = {**await pauses_of(tx)}
            if paused.pop(name or WHOLE, None) is None:
                return False
            await tx.settings.put(PAUSED, write_pauses(paused))
            await journal(act, Action.PAUSE_ENDED, agent=name)
            agents = (name,) if name is not None else [agent.name for agent in await tx.agents.all()]
            for agent in agents:
                await _wake(act, agent)
            return True

        return await self._store.commit(operation, is_long=name is None)

    async def all(self) -> Mapping[AgentName, Pause]:
        """Return all pauses: agents by name, and the space under `WHOLE`."""
        return await self._store.read(pauses_of)


async def pauses_of(tx: Transaction) -> Mapping[AgentName, Pause]:
    """Return all pauses."""
    return read_pauses(await tx.settings.get(PAUSED))


async def is_paused(tx: Transaction, agent: AgentName) -> bool:
    """Tell whether an agent is paused, by itself or with the whole space."""
    paused = await pauses_of(tx)
    return bool(paused) and (agent in paused or WHOLE in paused)


async def check_not_paused(tx: Transaction, agent: AgentName) -> None:
    """Raise Paused if an agent must not send or start anything now."""
    paused = await pauses_of(tx)
    for name in (agent, WHOLE):
        if (pause := paused.get(name)) is not None:
            raise Paused(agent, pause.by, pause.reason, is_space=name == WHOLE)


async def _wake(act: Act, agent: AgentName) -> None:
    """Wake the waiters for the agent's mail and tasks."""
    act.tx.ring(inbox_topic(parked_inbox(agent)))
    for session in await act.tx.sessions.of_agent(agent):
        act.tx.ring(inbox_topic(session.inbox))
