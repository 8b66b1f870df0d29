"""Fan-out: which inboxes a message goes to, or why it goes to none."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from covey.core.card import ANYONE, Card
from covey.core.draft import closes_circle
from covey.core.ids import InboxId, SessionId, parked_inbox
from covey.core.message import Kind, Message
from covey.core.names import AgentName
from covey.core.session import Session


class WhenOffline(StrEnum):
    """What becomes of mail for an agent that has no live session."""

    PARK = "park"
    REFUSE = "refuse"


class RefusalCode(StrEnum):
    """Why a recipient did not get a message; part of the sender's receipt."""

    NOT_ALLOWED = "not-allowed"
    CIRCULAR_ROUTE = "circular-route"
    NO_LIVE_SESSION = "no-live-session"
    INBOX_FULL = "inbox-full"
    OVER_QUOTA = "over-quota"
    """A task that its agent has no room for, where its card says to reject it."""


class Refusal(NamedTuple):
    code: RefusalCode
    reason: str

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"


class Recipient(NamedTuple):
    """One agent that a message is for, as the space knows it when the message is accepted."""

    agent: AgentName
    card: Card
    sessions: Sequence[Session]
    """Its live sessions that the message is for, oldest first."""
    may_park: bool = True
    """Everyone (*) means the live sessions: mail for all is never parked."""


def refusal(
    message: Message, recipient: Recipient, sender: Card, is_due: bool, *, is_reply: bool = False
) -> Refusal | None:
    """Return why `recipient` must not get `message`, or None. What is due (an answer to an open ticket, an update of
    one's own task) always passes the allow rules, and so do the operator and one's own agent; a reply to the sender is
    no relay and closes no circle."""
    if not is_due and not message.sender.is_operator and message.sender.agent != recipient.agent:
        if not allows(sender.allowed_delegates, recipient.agent):
            return Refusal(
                RefusalCode.NOT_ALLOWED, f"{message.sender.agent} may not send to {recipient.agent} (allowed_delegates)"
            )
        if not allows(recipient.card.allow_from, message.sender.agent):
            return Refusal(
                RefusalCode.NOT_ALLOWED, f"{recipient.agent} takes no mail from {message.sender.agent} (allow_from)"
            )
    if not is_reply and closes_circle(message, recipient.agent):
        return Refusal(
            RefusalCode.CIRCULAR_ROUTE, f"{recipient.agent} is already on the path {' → '.join(message.trace)}"
        )
    return None


def allows(names: Sequence[str], agent: AgentName) -> bool:
    """Tell whether an allow list has `agent` or anyone in it."""
    return ANYONE in names or agent in names


def others_of_own_agent(live: Sequence[Session], sender: SessionId | None) -> Sequence[Session]:
    """Return which live sessions of the sender's agent hear what it says to everyone. The main sessions of an agent are
    one participant, and each child is one: all but the sender's own hear it."""
    is_child = any(session.id == sender and not session.key.is_main for session in live)
    return [s for s in live if s.id != sender and (is_child or not s.key.is_main)]


def stand_in(live: Sequence[Session]) -> Session | None:
    """Return which of an agent's live sessions, oldest first, gets what was meant for one that is gone: a main one. A
    child has its own task, and is gone when that is done."""
    return next((session for session in live if session.key.is_main), None)


def places(
    message: Message, recipient: Recipient, when_offline: WhenOffline, asker: SessionId | None
) -> Sequence[InboxId] | Refusal:
    """Return the inboxes that get a copy. `asker` is the session that a response or update is meant for.

    notify, request: each live session. response, update: the session that asked, else the oldest live main one.
    task: one delivery with the agent, for one session to claim. A channel is always there: it has no sessions. Nothing
    is parked for a foreign program, which could not come for it.
    """
    sessions = recipient.sessions
    if recipient.card.channel:
        return (parked_inbox(recipient.agent),)
    is_foreign = recipient.card.wire_name is not None
    if not sessions and when_offline is WhenOffline.PARK and recipient.may_park and not is_foreign:
        return (parked_inbox(recipient.agent),)
    if not sessions:
        return Refusal(RefusalCode.NO_LIVE_SESSION, f"{recipient.agent} has no live session")
    if message.kind is Kind.TASK:
        return (parked_inbox(recipient.agent),)
    if message.kind in (Kind.RESPONSE, Kind.UPDATE):
        asking = next((s for s in sessions if s.id == asker), None) or stand_in(sessions)
        if asking is None and recipient.may_park:
            return (parked_inbox(recipient.agent),)
        return ((asking or sessions[0]).inbox,)
    return [session.inbox for session in sessions]


def supersedes(message: Message) -> bool:
    """Tell whether `message` replaces an older one of the same sender, scope and subject that still waits unseen."""
    return message.scope is not None and message.subject is not None and message.kind in (Kind.NOTIFY, Kind.UPDATE)
