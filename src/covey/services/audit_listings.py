"""Listings under audit: listed inboxes, sessions, agents and debts, compared with the totals of the records."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from covey.core.account import session_account
from covey.core.delivery import WAITING, Delivery
from covey.core.disagreement import Disagreement, differing
from covey.core.ids import InboxId, inbox_session, parked_inbox, session_inbox
from covey.core.replay import Replay
from covey.core.ticket import Ticket
from covey.ports.ledger import MessageFilter
from covey.ports.store import Transaction
from covey.services.audit_books import Books

RECENT: Final = 10_000
"""The number of newest messages that are looked up in the journal; damage from a crash is among them."""


async def inbox_faults(tx: Transaction, replay: Replay, books: Books) -> AsyncIterator[Disagreement]:
    """Check that each inbox lists its waiting deliveries in order and counts the queued ones, and that the inbox of an
    ended session is empty."""
    inboxes = {*books.inboxes, *map(session_inbox, replay.sessions), *map(parked_inbox, replay.agents)}
    for inbox in sorted(inboxes):
        expected = sorted(books.waiting.get(inbox, {}).items(), key=lambda entry: entry[1])
        listed = [(delivery.id, delivery.seq) for delivery in await _waiting(tx, inbox)]
        session_id = inbox_session(inbox)
        session = replay.sessions.get(session_id) if session_id is not None else None
        left = listed if session is not None and session.has_ended else []
        for fault in (
            *differing("inbox", inbox, expected, listed),
            *differing("queued", inbox, books.queued[inbox], await tx.inboxes.queued(inbox)),
            *differing("mail left in an ended session", inbox, [], left),
        ):
            yield fault


async def session_faults(tx: Transaction, replay: Replay, _books: Books) -> AsyncIterator[Disagreement]:
    """Check that sessions agree with the journal, and that all sessions that have not ended are listed."""
    for session_id, account in replay.sessions.items():
        session = await tx.sessions.get(session_id)
        for fault in differing("session", session_id, account, session and session_account(session)):
            yield fault
    expected = sorted(session_id for session_id, account in replay.sessions.items() if not account.has_ended)
    current = await tx.sessions.current()
    for fault in differing("current sessions", "space", expected, sorted(session.id for session in current)):
        yield fault
    for session in current:
        if session not in await tx.sessions.of_agent(session.agent):
            yield Disagreement("sessions of agent", session.agent, session.id, "not listed")


async def agent_faults(tx: Transaction, replay: Replay, _books: Books) -> AsyncIterator[Disagreement]:
    """Check that the agents are those of the journal."""
    names = [agent.name for agent in await tx.agents.all()]
    for fault in differing("agents", "space", sorted(replay.agents), names):
        yield fault


async def owed_faults(tx: Transaction, replay: Replay, books: Books) -> AsyncIterator[Disagreement]:
    """Check that every debt is listed under its debtor, its asker and its scope."""
    for agent in sorted(replay.agents):
        for fault in (
            *differing("owed by", agent, sorted(books.owed.by.get(agent, ())), _ids(await tx.tickets.owed_by(agent))),
            *differing("owed to", agent, sorted(books.owed.to.get(agent, ())), _ids(await tx.tickets.owed_to(agent))),
        ):
            yield fault
    for scope in sorted(books.scopes):
        listed = _ids(await tx.tickets.owed_in(scope))
        for fault in differing("owed in", scope, sorted(books.owed.scope.get(scope, ())), listed):
            yield fault


async def recent_faults(tx: Transaction, replay: Replay, _books: Books) -> AsyncIterator[Disagreement]:
    """Check that every recent message is in the journal."""
    for message in await tx.messages.find(MessageFilter(), RECENT):
        if message.id not in replay.messages:
            yield Disagreement("event", message.id, "one that tells of its sending", "none")


async def _waiting(tx: Transaction, inbox: InboxId) -> Sequence[Delivery]:
    found: list[Delivery] = []
    while page := await tx.inboxes.waiting(inbox, WAITING, found[-1].seq if found else 0):
        found.extend(page)
    return found


def _ids(tickets: Sequence[Ticket]) -> list[str]:
    return sorted(ticket.id for ticket in tickets)
