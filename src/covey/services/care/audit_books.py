"""The auditor's books: totals of the records, filled message by message, with which the listings must agree."""

from collections import Counter
from typing import NamedTuple

from covey.core.care.consistency import Numbers
from covey.core.ids import DeliveryId, InboxId, MessageId, SessionId, TicketId
from covey.core.ledger.delivery import WAITING, Delivery, DeliveryState
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import AgentName, Scope
from covey.core.work.task import Task, TaskState


class Owed(NamedTuple):
    """Tickets that are not closed, by debtor, asker and scope."""

    by: dict[AgentName, set[TicketId]]
    to: dict[AgentName, set[TicketId]]
    scope: dict[Scope, set[TicketId]]


class OpenTasks(NamedTuple):
    """Unfinished tasks, by the agent or session that has them or is to have them."""

    pending: dict[AgentName, set[MessageId]]
    held: dict[AgentName, set[MessageId]]
    of_session: dict[SessionId, set[MessageId]]


class Books:
    def __init__(self) -> None:
        self.waiting: dict[InboxId, dict[DeliveryId, int]] = {}
        """For each inbox, the waiting deliveries with their seq."""
        self.queued: Counter[InboxId] = Counter()
        self.inboxes: set[InboxId] = set()
        """Every inbox that any delivery names."""
        self.owed = Owed({}, {}, {})
        self.scopes: set[Scope] = set()
        self.numbers: Numbers = {}
        self.tasks = OpenTasks({}, {}, {})

    def enter_delivery(self, delivery: Delivery) -> None:
        """Count one delivery."""
        self.inboxes.add(delivery.inbox)
        if delivery.state in WAITING:
            self.waiting.setdefault(delivery.inbox, {})[delivery.id] = delivery.seq
        if delivery.state is DeliveryState.QUEUED:
            self.queued[delivery.inbox] += 1

    def enter_ticket(self, ticket: Ticket) -> None:
        """Count one ticket."""
        if ticket.scope is not None:
            self.scopes.add(ticket.scope)
        if ticket.state is TicketState.CLOSED:
            return
        self.owed.by.setdefault(ticket.debtor, set()).add(ticket.id)
        self.owed.to.setdefault(ticket.asker, set()).add(ticket.id)
        if ticket.scope is not None:
            self.owed.scope.setdefault(ticket.scope, set()).add(ticket.id)

    def enter_task(self, task: Task) -> None:
        """Count one task."""
        if task.is_held:
            self.tasks.held.setdefault(task.agent, set()).add(task.id)
        elif task.state is TaskState.PENDING:
            self.tasks.pending.setdefault(task.agent, set()).add(task.id)
        if task.claimed_by is not None:
            self.tasks.of_session.setdefault(task.claimed_by, set()).add(task.id)
