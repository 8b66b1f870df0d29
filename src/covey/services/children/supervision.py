"""Supervision: the events of a child's life between its start and its end, for its supervisor."""

from typing import Final, NamedTuple

from covey.core.identity import THE_SPACE, Grade, Identity
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.message import Message
from covey.core.ledger.offer import EvidenceGrade
from covey.core.limits import MAX_LEASE, RUN_PACE
from covey.core.names import inbox_topic, session_inbox
from covey.core.work.run import Run, RunId, RunState, run_topic
from covey.core.work.spawning import later_prompt
from covey.ports.children import Child, ChildEvent, ChildResult, ChildWork, Launching
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.attention.offers import MailOffers
from covey.services.children.results import answer_for, end_run, remark_on, show_in_thread
from covey.services.mail.filing import NoticePorts
from covey.services.polling import Poller

LOOK_S: Final = 3600.0
"""The longest single wait, in seconds; waits are repeated."""
BATCH: Final = 20
"""The number of ended runs that are cleared at a time."""


class EndRequest(NamedTuple):
    """A request to end a run, with the reason."""

    why: str


class Supervision:
    def __init__(
        self, store: Store, clock: Clock, notice_ports: NoticePorts, offers: MailOffers, waiting: Poller
    ) -> None:
        self._store = store
        self._clock = clock
        self._notice_ports = notice_ports
        self._offers = offers
        self._waiting = waiting

    async def until_wanted_over(self, run_id: RunId) -> EndRequest:
        """Wait until a stop of the run is requested, or the run is over because its session was ended."""

        async def look() -> EndRequest | None:
            return await self._wanted(run_id)

        while (found := await self._waiting.until([run_topic(run_id)], look, LOOK_S, RUN_PACE)) is None:
            pass
        return found

    async def next_errand(self, child: Child, number: int, said: list[Message]) -> ChildWork | EndRequest:
        """Wait for a message in the child's inbox that it was not shown, and return it with the earlier conversation;
        or return that the run is to end."""
        run = child.run
        inbox = session_inbox(run.session)

        async def first(tx: Transaction) -> DeliveryRecord | None:
            waiting = await tx.inboxes.waiting(inbox, {DeliveryState.QUEUED}, limit=1)
            return waiting[0] if waiting else None

        async def look() -> ChildWork | EndRequest | None:
            if (wanted := await self._wanted(run.id)) is not None:
                return wanted
            delivery = await self._store.read(first)
            if delivery is None:
                return None
            shown = await self._offers.offer(
                _identity(run), f"errand {number}", limit=1, wanted={delivery.id}, lease=MAX_LEASE
            )
            if shown is None:
                return None
            message = shown.items[0].message
            return ChildWork(child, message, later_prompt(run, message, said), number, shown.offer.id)

        topics = [inbox_topic(inbox), run_topic(run.id)]
        while (found := await self._waiting.until(topics, look, LOOK_S, RUN_PACE)) is None:
            pass
        return found

    async def hand_in(self, errand: ChildWork, product: ChildResult) -> Message | None:
        """Send a staying child's result for an errand to the asker, unless the child answered itself. Return the
        answer."""
        run, message = errand.child.run, errand.message
        if errand.offer is not None:
            basis = "its program was given the message, and ended"
            await self._offers.confirm(errand.offer, _identity(run), EvidenceGrade.INFERRED, basis)

        async def operation(tx: Transaction) -> Message | None:
            act = Act(tx, _identity(run), self._clock.now())
            if not message.expects_reply:
                await remark_on(act, run, message, product, self._notice_ports, _identity(run))
                return None
            answer = await answer_for(act, run, message, product, self._notice_ports, _identity(run))
            if answer is not None:
                await show_in_thread(act, run, answer, self._notice_ports)
            return answer

        return await self._store.commit(operation)

    async def end(self, run_id: RunId, product: ChildResult) -> Run:
        """End a run with its result. A run that has ended is unchanged."""

        async def operation(tx: Transaction) -> Run | None:
            run = await tx.runs.get(run_id)
            if run is None or run.has_ended:
                return run
            return await end_run(Act(tx, _identity(run), self._clock.now()), run, product, self._notice_ports)

        ended = await self._store.commit(operation)
        if ended is None:
            raise RuntimeError(f"the run {run_id} is gone")
        return ended

    async def sweep(self, launching: Launching) -> int:
        """Clear up after ended runs that left a folder, no matter which process supervised them. Return their
        number."""
        swept = 0
        for run in await self._store.read(lambda tx: tx.runs.uncleared(BATCH)):
            swept += await self.clear(run, launching)
        return swept

    async def clear(self, run: Run, launching: Launching) -> bool:
        """Remove the folder of an ended run. For a lost run also notify plugins, because its supervisor is gone."""
        if run.folder is not None:
            if not await launching.clear(run):
                return False
            await self._store.commit(lambda tx: _note_cleared(Act(tx, THE_SPACE, self._clock.now()), run.id))
        if run.state is RunState.LOST:
            await launching.plugins.tell(ChildEvent.FAILED, run)
        return True

    async def _wanted(self, run_id: RunId) -> EndRequest | None:
        run = await self._store.read(lambda tx: tx.runs.get(run_id))
        if run is None or run.has_ended:
            return EndRequest((run and run.reason) or "its session has ended")
        return None if run.stop_reason is None else EndRequest(run.stop_reason)


async def _note_cleared(act: Act, run_id: RunId) -> None:
    run = await act.tx.runs.get(run_id)
    if run is not None and run.folder is not None:
        await act.tx.runs.put(run._replace(folder=None))
        await journal(act, Action.RUN_CLEARED, message_id=run.request, agent=run.agent, run=run.id)


def _identity(run: Run) -> Identity:
    return Identity(run.agent, run.session, Grade.SESSION)
