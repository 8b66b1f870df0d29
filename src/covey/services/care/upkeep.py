"""Upkeep: recording the effects of time. Every active program in a space does it; the cost grows with what is due."""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from covey.core.identity import THE_SPACE
from covey.core.ledger.delivery import TIME_PASSED, WAITING, DeliveryRecord, DeliveryState, Move, state_at
from covey.core.ledger.message import Kind
from covey.core.ledger.ticket import TicketTrouble
from covey.core.names import InboxId, ticket_id
from covey.ports.clock import Clock, Ids
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.attention.leases import lapse
from covey.services.directory.presence import is_live, live_sessions
from covey.services.mail.filing import NoticePorts
from covey.services.mail.notices import report_trouble
from covey.services.tasks.moves import expire_task, mend_tasks

BATCH: Final = 500
"""The number of lapsed deliveries per transaction, so that other writers get their turn."""


class UpkeepResult(NamedTuple):
    """The counts of an upkeep."""

    lapsed: int
    sessions_ended: int
    tasks: int
    """Tasks that were past their deadlines, or abandoned and not reported."""
    runs: int = 0
    """Runs that were lost and not reported, or had left a folder."""


class Upkeep:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        ids: Ids,
        liveness: Liveness,
        sweep: Callable[[], Awaitable[int]] | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._liveness = liveness
        self._sweep = sweep
        """Clears up after children whose processes were killed; None if this program can't."""

    async def tend(self) -> UpkeepResult:
        """End dead sessions, return lapsed offers, expire outdated mail, and send notices of abandoned tasks and lost
        children. Nothing is written if there is nothing to do."""
        ended = await self._end_dead_sessions()
        lapsed = 0
        while (batch := await self._lapse_batch()) > 0:
            lapsed += batch
        tasks = 0
        while (batch := await self._task_batch()) > 0:
            tasks += batch
        runs = 0
        while (batch := await self._run_batch()) > 0:
            runs += batch
        if self._sweep is not None:
            runs += await self._sweep()
        return UpkeepResult(lapsed, ended, tasks, runs)

    async def mend_inbox(self, act: Act, inbox: InboxId) -> None:
        """Return lapsed offers and expire mail in one inbox, within a transaction that is about to use it."""
        after = 0
        while waiting := await act.tx.inboxes.waiting(inbox, WAITING, after):
            for delivery in waiting:
                after = delivery.seq
                await self._mend(act, delivery)

    async def _end_dead_sessions(self) -> int:
        async def look(tx: Transaction) -> list[str]:
            now = self._clock.now()
            return [s.agent for s in await tx.sessions.current() if not is_live(s, self._liveness, now)]

        async def operation(tx: Transaction) -> None:
            act = Act(tx, THE_SPACE, self._clock.now())
            for agent in dict.fromkeys(s.agent for s in await tx.sessions.current()):
                await live_sessions(act, agent, self._liveness)

        dead = await self._store.read(look, is_long=True)
        if dead:
            await self._store.commit(operation, is_long=True)
        return len(dead)

    async def _lapse_batch(self) -> int:
        async def look(tx: Transaction) -> bool:
            return bool(await tx.deliveries.lapsed(self._clock.now(), 1))

        async def operation(tx: Transaction) -> int:
            act = Act(tx, THE_SPACE, self._clock.now())
            due = await tx.deliveries.lapsed(act.now, BATCH)
            for delivery in due:
                await self._mend(act, delivery)
            return len(due)

        return await self._store.commit(operation, is_long=True) if await self._store.read(look) else 0

    async def _task_batch(self) -> int:
        async def look(tx: Transaction) -> bool:
            return bool(await tx.tasks.due(self._clock.now(), 1) or await tx.tasks.untold(1))

        async def operation(tx: Transaction) -> int:
            act = Act(tx, THE_SPACE, self._clock.now())
            return await mend_tasks(act, BATCH, NoticePorts(self._ids, self._liveness))

        return await self._store.commit(operation, is_long=True) if await self._store.read(look) else 0

    async def _run_batch(self) -> int:
        async def look(tx: Transaction) -> bool:
            return bool(await tx.runs.untold(1))

        async def operation(tx: Transaction) -> int:
            from covey.services.children.results import mend_runs  # imported late because most spaces never need it

            return await mend_runs(Act(tx, THE_SPACE, self._clock.now()), BATCH, NoticePorts(self._ids, self._liveness))

        return await self._store.commit(operation, is_long=True) if await self._store.read(look) else 0

    async def _mend(self, act: Act, delivery: DeliveryRecord) -> None:
        if state_at(delivery, act.now) is delivery.state:
            return
        # Repairing one delivery may end a session, and so move others that were read together with it.
        delivery = await act.tx.deliveries.get(delivery.id) or delivery
        state = state_at(delivery, act.now)
        if state is delivery.state:
            return
        mending = act._replace(actor=THE_SPACE)
        if delivery.state is DeliveryState.OFFERED:
            await lapse(mending, delivery)
            delivery = await act.tx.deliveries.get(delivery.id) or delivery
        if state is DeliveryState.EXPIRED:
            delivery = await shift(mending, delivery, Move.EXPIRE, TIME_PASSED)
            if delivery.kind is Kind.TASK:
                await expire_task(mending, delivery.message_id, NoticePorts(self._ids, self._liveness))
            await self._report_expiry(mending, delivery)

    async def _report_expiry(self, act: Act, delivery: DeliveryRecord) -> None:
        if not delivery.expects_reply or delivery.agent is None:
            return
        copies = await act.tx.deliveries.of_message(delivery.message_id)
        if all(copy.is_terminal for copy in copies if copy.agent == delivery.agent):
            ticket = await act.tx.tickets.get(ticket_id(delivery.message_id, delivery.agent))
            if ticket is not None:
                await report_trouble(act, ticket, TicketTrouble.EXPIRED, self._ids, self._liveness)
