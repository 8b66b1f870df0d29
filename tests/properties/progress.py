"""Invariants between two snapshots of a space: the changes that are allowed."""

from covey.core.channels.post import POST_MOVES
from covey.core.ledger.delivery import MOVES, DeliveryRecord
from covey.core.ledger.offer import at_least
from covey.core.ledger.ticket import TICKET_MOVES, Ticket, TicketState
from covey.core.work.run import RUN_MOVES, Run, RunState
from covey.core.work.task import TASK_MOVES, Task, TaskState
from tests.properties.sameness import Snapshot


def check_progress(before: Snapshot, after: Snapshot) -> None:
    """Check that no accepted message disappears, nothing that has ended restarts, and evidence only grows."""
    assert after.events[: len(before.events)] == before.events, "the journal was changed"
    for message_id, message in before.messages.items():
        assert after.messages[message_id] == message, f"message {message_id} was changed"
    for delivery_id, delivery in before.deliveries.items():
        _check_delivery(delivery, after.deliveries[delivery_id])
    for ticket_id, ticket in before.tickets.items():
        _check_ticket(ticket, after.tickets[ticket_id])
    for task_id, task in before.tasks.items():
        _check_task(task, after.tasks[task_id])
    for post_id, post in before.posts.items():
        assert POST_MOVES[post.state] or after.posts[post_id] == post, f"post {post_id} was done with"
    runs = {run.id: run for run in after.runs}
    for run in before.runs:
        _check_run(run, runs[run.id])
    for session_id, session in before.sessions.items():
        if session is not None and session.has_ended:
            assert after.sessions[session_id] == session, f"session {session_id} had ended"
    for offer_id, offer in before.offers.items():
        if offer is not None and offer.ended_at is not None:
            assert after.offers[offer_id] == offer, f"offer {offer_id} had ended"


def _check_delivery(before: DeliveryRecord, after: DeliveryRecord) -> None:
    assert after.state in MOVES, f"{after.id} is in no state of the table"
    assert before.grade is None or at_least(after.grade, before.grade), f"evidence for {after.id} was weakened"
    assert before.archived_at in (None, after.archived_at), f"{after.id} was archived before"
    assert before.number in (0, after.number), f"{after.id} got another number"
    if before.is_terminal:
        still = after._replace(grade=before.grade, archived_at=before.archived_at, seq=before.seq, seen=before.seen)
        assert still == before, f"{after.id} had ended"


def _check_ticket(before: Ticket, after: Ticket) -> None:
    assert after.state in TICKET_MOVES, f"{after.id} is in no state of the table"
    assert before.answer in (None, after.answer), f"{after.id} got another answer"
    assert before.trouble in (None, after.trouble), f"{after.id} got another trouble"
    if before.state is TicketState.CLOSED:
        assert after == before, f"{after.id} was closed"
    if before.state is TicketState.ANSWERED:
        assert after.state is not TicketState.OPEN, f"{after.id} was answered"


def _check_run(before: Run, after: Run) -> None:
    assert after.state in RUN_MOVES, f"{after.id} is in no state of the table"
    if before.has_ended:
        left = after._replace(folder=before.folder, is_told=before.is_told)
        assert left == before, f"{after.id} had ended"
        assert after.is_told or not before.is_told, f"the end of {after.id} was told"
    elif before.state is not RunState.STARTING:
        assert after.state is not RunState.STARTING, f"{after.id} ran"


def _check_task(before: Task, after: Task) -> None:
    assert after.state in TASK_MOVES, f"{after.id} is in no state of the table"
    assert after.attempt >= before.attempt, f"{after.id} was taken more often before"
    if before.is_finished:
        assert after == before, f"{after.id} was finished"
    if before.state is not TaskState.PENDING:
        assert after.state is not TaskState.PENDING, f"{after.id} was accepted"
