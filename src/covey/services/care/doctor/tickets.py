"""Tickets under examination: owed answers that can't be given."""

from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from covey.core.care.diagnoses import UNANSWERABLE_TICKET
from covey.core.care.finding import Area, Examination, Finding
from covey.core.identity import Identity
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState
from covey.core.text.wording import counted
from covey.ports.checkup import Tell
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift_ticket
from covey.services.care.doctor.note import note

NEVER_SEEN: Final = frozenset(
    {
        DeliveryState.EVICTED,
        DeliveryState.EXPIRED,
        DeliveryState.REFUSED,
        DeliveryState.SUPERSEDED,
        DeliveryState.UNDELIVERABLE,
        DeliveryState.WITHDRAWN,
    }
)
"""States in which a request has ended without an answer and is not shown any more."""


class Hopeless(NamedTuple):
    ticket: Ticket
    why: str

    def __str__(self) -> str:
        scope = f" in {self.ticket.scope}" if self.ticket.scope else ""
        return f"{self.ticket.id}, asked by {self.ticket.asker}{scope}: {self.why}"


class TicketsCheckup:
    area = Area.TICKETS

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        del thorough, tell

        async def look(tx: Transaction) -> tuple[int, list[Hopeless]]:
            owed = [ticket async for ticket in _owed(tx)]
            return len(owed), await _hopeless(tx, owed)

        owed, hopeless = await self._store.read(look, is_long=True)
        summary = f"{counted(owed - len(hopeless), 'answer')} owed that can be given"
        return Examination(self.area, summary, (_finding(hopeless),) if hopeless else ())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        """Close the debts that were found, if they are still hopeless. Debts that arose since were not approved for
        closing."""
        shown = {item for finding in findings for item in finding.items}

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            hopeless = await _hopeless(tx, [ticket async for ticket in _owed(tx)])
            agreed = [found for found in hopeless if str(found) in shown]
            if agreed:
                await note(act, _finding(agreed))
            for ticket, _ in agreed:
                await shift_ticket(act, ticket, TicketMove.FORCE)

        await self._store.commit(operation, is_long=True)


def _finding(hopeless: Sequence[Hopeless]) -> Finding:
    what = f"{counted(len(hopeless), 'answer')} owed that nobody can give"
    return Finding(UNANSWERABLE_TICKET, what, tuple(map(str, hopeless)))


async def _owed(tx: Transaction) -> AsyncIterator[Ticket]:
    for debtor in await tx.tickets.debtors():
        for ticket in await tx.tickets.owed_by(debtor):
            yield ticket


async def _hopeless(tx: Transaction, owed: Sequence[Ticket]) -> list[Hopeless]:
    judged = [(ticket, await _why(tx, ticket)) for ticket in owed]
    return [Hopeless(ticket, why) for ticket, why in judged if why is not None]


async def _why(tx: Transaction, ticket: Ticket) -> str | None:
    """Return why the answer can't be given, or the answered request can't be archived; None if it can."""
    if await tx.agents.get(ticket.debtor) is None:
        return f"no agent is called {ticket.debtor}"
    if ticket.state is not TicketState.OPEN:
        return None
    if ticket.trouble is not None:
        return f"the request was {ticket.trouble}"
    copies = [copy for copy in await tx.deliveries.of_message(ticket.message_id) if copy.agent == ticket.debtor]
    if all(copy.state in NEVER_SEEN for copy in copies):
        return "no copy of the request is left" if copies else "the request is in no inbox"
    return None
