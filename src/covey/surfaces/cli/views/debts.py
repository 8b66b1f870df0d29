"""Debts, for people: debtor, asker and state."""

from collections.abc import Mapping, Sequence

from covey.core.ids import TicketId
from covey.core.ledger.ticket import Ticket, TicketState
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.when import age


def show_debts(
    call: Call, tickets: Sequence[Ticket], nothing: str, approvals: Mapping[TicketId, str | None] | None = None
) -> None:
    """Show debts as a table, or say that there are none. `approvals` has the labels of requested approvals."""
    wanted = approvals or {}
    now = call.services.clock.now()
    call.output.table(
        ("who owes", "to", "age", "state", "approval", "scope", "subject", "message"),
        [
            (
                ticket.debtor,
                ticket.asker,
                age(ticket.opened_at, now),
                _state(ticket),
                wanted.get(ticket.id) or "",
                ticket.scope or "",
                ticket.subject or "",
                ticket.message_id,
            )
            for ticket in tickets
        ],
        nothing,
    )


def _state(ticket: Ticket) -> str:
    """Return the state of a debt, with the reason for a delay."""
    if ticket.trouble is not None:
        return f"{ticket.state} ({ticket.trouble})"
    if ticket.awaits is not None:
        return f"{ticket.state} (asked back)"
    return f"{ticket.state}, not archived" if ticket.state is TicketState.ANSWERED else str(ticket.state)
