"""The gate: the check that nothing in a scope is still owed."""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.errors import GateClosed
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import Scope


class Verdict(NamedTuple):
    """The result of the gate for a scope: passed, or the list of debts."""

    scope: Scope
    owed: tuple[Ticket, ...]
    """Every ticket of the scope that is not closed, answered or not, oldest first."""
    forced: bool = False

    @property
    def passed(self) -> bool:
        return self.forced or not self.owed

    @property
    def answered(self) -> tuple[Ticket, ...]:
        """The owed tickets that have an answer and only wait to be archived."""
        return tuple(ticket for ticket in self.owed if ticket.state is TicketState.ANSWERED)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects of the owed tickets, or their message ids if there is no subject; each once."""
        return tuple(dict.fromkeys(ticket.subject or ticket.message_id for ticket in self.owed))

    def check(self) -> None:
        """Raise GateClosed unless the gate is passed."""
        if not self.passed:
            raise GateClosed(self.scope, len(self.owed), self.subjects)


def verdict(scope: Scope, tickets: Sequence[Ticket], *, forced: bool = False) -> Verdict:
    """Return the verdict on a scope, given its tickets."""
    owed = tuple(t for t in tickets if t.scope == scope and t.state is not TicketState.CLOSED)
    return Verdict(scope, owed, forced)
