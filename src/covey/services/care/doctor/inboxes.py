"""Inboxes under examination: those with mail but no owner, and agents with a reserved name."""

from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from covey.core.care.diagnoses import ORPHAN_INBOX, RESERVED_NAME
from covey.core.care.finding import Area, Examination, Finding
from covey.core.directory.card import Card
from covey.core.identity import Identity
from covey.core.ids import InboxId, inbox_session
from covey.core.ledger.delivery import WAITING, Delivery, DeliveryState, Move
from covey.core.ledger.event import Action
from covey.core.names import OPERATOR, SPACE, AgentName, is_reserved
from covey.core.text.wording import counted
from covey.ports.checkup import Tell
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.ledger import EventFilter
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.care.doctor.note import note
from covey.services.directory.directory import enrol
from covey.services.directory.presence import give_up, live_sessions

PAGE: Final = 1000
_NUMBERING: Final = (Action.MESSAGE_SENT, Action.DELIVERY_PLACED)
"""Actions that number a delivery: accepting the message, or adopting mail from before the session."""


async def restore_numbers(tx: Transaction, agent: AgentName) -> None:
    """Continue the agent's numbers after the highest number of its mail. Reads the whole journal."""
    highest = 0
    for action in _NUMBERING:
        after = 0
        while events := await tx.journal.read(after, PAGE, EventFilter(action=action)):
            after = events[-1].position
            for event in events:
                if event.message_id is not None:
                    copies = await tx.deliveries.of_message(event.message_id)
                    highest = max((highest, *(copy.number for copy in copies if copy.agent == agent)))
    for _ in range(highest):
        await tx.agents.next_number(agent)


class Orphan(NamedTuple):
    inbox: InboxId
    why: str
    deliveries: tuple[Delivery, ...]

    def __str__(self) -> str:
        return f"{self.inbox} ({len(self.deliveries)} waiting; {self.why})"


class InboxesCheckup:
    area = Area.INBOXES

    def __init__(self, store: Store, clock: Clock, liveness: Liveness) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        del thorough, tell

        async def look(tx: Transaction) -> tuple[int, list[Orphan], list[AgentName]]:
            names = [agent.name for agent in await tx.agents.all() if agent.name not in (OPERATOR, SPACE)]
            reserved = [name for name in names if is_reserved(name)]
            return len(await tx.inboxes.occupied()), [orphan async for orphan in _orphans(tx)], reserved

        occupied, orphans, reserved = await self._store.read(look, is_long=True)
        summary = f"{counted(occupied - len(orphans), 'inbox', 'inboxes')} with mail, each somebody's"
        findings = [_finding(orphans)] if orphans else []
        if reserved:
            what = f"{counted(len(reserved), 'agent')} with a reserved name"
            findings.append(Finding(RESERVED_NAME, what, tuple(reserved)))
        return Examination(self.area, summary, tuple(findings))

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            orphans = [orphan async for orphan in _orphans(tx)]
            if orphans:
                await note(act, _finding(orphans))
            for orphan in orphans:
                for agent in {d.agent for d in orphan.deliveries if d.agent is not None}:
                    if await tx.agents.get(agent) is None:
                        await enrol(act, agent, Card())
                        await restore_numbers(tx, agent)
                if inbox_session(orphan.inbox) is not None:
                    for delivery in orphan.deliveries:
                        await self._hand_on(act, delivery)

        await self._store.commit(operation, is_long=True)

    async def _hand_on(self, act: Act, delivery: Delivery) -> None:
        """Move a delivery out of the inbox of a session that has ended or never existed."""
        if delivery.agent is not None:
            siblings = await live_sessions(act, delivery.agent, self._liveness)
            if delivery.inbox not in {sibling.inbox for sibling in siblings}:
                await give_up(act, delivery, delivery.agent, siblings)
            return
        if delivery.state is DeliveryState.OFFERED:
            delivery = await shift(act, delivery, Move.RETURN, "its session never was")
        await shift(act, delivery, Move.EXPIRE, "nobody ever had its session")


def _finding(orphans: Sequence[Orphan]) -> Finding:
    waiting = sum(len(orphan.deliveries) for orphan in orphans)
    what = f"{counted(waiting, 'message')} in {counted(len(orphans), 'inbox', 'inboxes')} of nobody"
    return Finding(ORPHAN_INBOX, what, tuple(map(str, orphans)))


async def _orphans(tx: Transaction) -> AsyncIterator[Orphan]:
    for inbox in await tx.inboxes.occupied():
        why = await _why(tx, inbox)
        if why is not None:
            deliveries = [delivery async for delivery in _held(tx, inbox) if not _is_early(delivery)]
            if deliveries:
                yield Orphan(inbox, why, tuple(deliveries))


async def _why(tx: Transaction, inbox: InboxId) -> str | None:
    """Return why an inbox has no owner; None if it has one."""
    session_id = inbox_session(inbox)
    if session_id is None:
        agent = AgentName(inbox.partition(":")[2])
        return None if await tx.agents.get(agent) is not None else f"no agent is called {agent}"
    session = await tx.sessions.get(session_id)
    if session is None:
        return "there is no such session"
    if session.has_ended:
        return f"the session of {session.agent} has ended"
    return None if await tx.agents.get(session.agent) is not None else f"no agent is called {session.agent}"


async def _held(tx: Transaction, inbox: InboxId) -> AsyncIterator[Delivery]:
    after = 0
    while page := await tx.inboxes.waiting(inbox, WAITING, after):
        after = page[-1].seq
        for delivery in page:
            yield delivery


def _is_early(delivery: Delivery) -> bool:
    """Tell whether a message was sent to a session id before that session was registered, and still waits for it."""
    return delivery.agent is None and delivery.expires_at is not None
