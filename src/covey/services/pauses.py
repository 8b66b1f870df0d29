"""Pauses: the operator has an agent, or the whole space, take and send nothing. Mail for it is accepted, and waits.

What an agent has in hand it may still bring to an end: a program that has done its task can hand the result in.
"""

from collections.abc import Mapping

from covey.core.authority import check_operator
from covey.core.errors import Paused
from covey.core.event import Action
from covey.core.identity import Identity
from covey.core.ids import inbox_topic, parked_inbox
from covey.core.names import AgentName
from covey.core.pause import WHOLE, Pause, parse_reason, read_pauses, write_pauses
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.known import known_agent
from covey.services.policies import PAUSED


class Pauses:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def pause(self, name: AgentName | None, actor: Identity, reason: str = "") -> Pause:
        """Pause an agent, or with None the whole space. One that is paused already has a new reason."""
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
        """Let an agent, or the whole space, go on; tell whether it was paused. An agent that was paused by itself stays
        so when the space goes on."""
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
        """Return what is paused: agents by name, and under `WHOLE` the space."""
        return await self._store.read(pauses_of)


async def pauses_of(tx: Transaction) -> Mapping[AgentName, Pause]:
    """Return what is paused."""
    return read_pauses(await tx.settings.get(PAUSED))


async def is_paused(tx: Transaction, agent: AgentName) -> bool:
    """Tell whether an agent is to do nothing now, by itself or with the whole space."""
    paused = await pauses_of(tx)
    return bool(paused) and (agent in paused or WHOLE in paused)


async def check_not_paused(tx: Transaction, agent: AgentName) -> None:
    """Raise Paused where an agent is to send and start nothing now."""
    paused = await pauses_of(tx)
    for name in (agent, WHOLE):
        if (pause := paused.get(name)) is not None:
            raise Paused(agent, pause.by, pause.reason, is_space=name == WHOLE)


async def _wake(act: Act, agent: AgentName) -> None:
    """Let whoever waits for the agent's mail or tasks look."""
    act.tx.ring(inbox_topic(parked_inbox(agent)))
    for session in await act.tx.sessions.of_agent(agent):
        act.tx.ring(inbox_topic(session.inbox))
