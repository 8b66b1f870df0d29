"""Routing: the inboxes that get a copy of a message, or the refusal; and pauses, by which the operator stops the
messages of an agent or of the whole space."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple, cast

from covey.core.directory.card import ANYONE, Card
from covey.core.directory.session import Session
from covey.core.errors import Invalid
from covey.core.json import to_json
from covey.core.ledger.draft import closes_circle
from covey.core.ledger.message import Kind, Message
from covey.core.names import AgentName, InboxId, SessionId, parked_inbox
from covey.core.times import format_instant, parse_instant


class WhenOffline(StrEnum):
    """The policy for mail to an agent that has no live session."""

    PARK = "park"
    REFUSE = "refuse"


class RefusalCode(StrEnum):
    """The reason why a recipient did not get a message; part of the sender's receipt."""

    NOT_ALLOWED = "not-allowed"
    CIRCULAR_ROUTE = "circular-route"
    NO_LIVE_SESSION = "no-live-session"
    INBOX_FULL = "inbox-full"
    OVER_QUOTA = "over-quota"
    """The task is over the agent's quota, and the agent's card says to reject such tasks."""


class Refusal(NamedTuple):
    code: RefusalCode
    reason: str

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"


class Recipient(NamedTuple):
    """A recipient agent of a message, as the space knows the agent when it accepts the message."""

    agent: AgentName
    card: Card
    sessions: Sequence[Session]
    """The agent's live sessions that the message is for, oldest first."""
    may_park: bool = True
    """False for a message to everyone (*), which means the live sessions: such mail is never parked."""


def refusal(
    message: Message, recipient: Recipient, sender: Card, is_due: bool, *, is_reply: bool = False
) -> Refusal | None:
    """Return the refusal of `message` for `recipient`, or None. The allow rules do not apply to a message that is due
    (an answer to an open ticket, an update of one's own task), from the operator, or within one agent. A reply to the
    sender is no relay, so it closes no circle."""
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
    """Tell whether an allow list contains `agent` or *."""
    return ANYONE in names or agent in names


def others_of_own_agent(live: Sequence[Session], sender: SessionId | None) -> Sequence[Session]:
    """Return the live sessions of the sender's own agent that get a message to everyone. The main sessions of an agent
    are one participant, and each child is one. All participants but the sender's get the message."""
    is_child = any(session.id == sender and not session.key.is_main for session in live)
    return [s for s in live if s.id != sender and (is_child or not s.key.is_main)]


def stand_in(live: Sequence[Session]) -> Session | None:
    """Return the live session of an agent that gets mail for a session that has ended: the oldest main session. A child
    is no stand-in, because it has its own task and ends with it."""
    return next((session for session in live if session.key.is_main), None)


def places(
    message: Message, recipient: Recipient, when_offline: WhenOffline, asker: SessionId | None
) -> Sequence[InboxId] | Refusal:
    """Return the inboxes that get a copy. `asker` is the session that a response or update is meant for.

    notify, request: each live session. response, update: the session that asked, else the oldest live main one.
    task: one delivery with the agent, for one session to claim. A channel has no sessions, and its mail waits with the
    agent. Nothing is parked for a foreign program, which could not fetch it.
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
    """Tell whether `message` replaces older messages of the same sender, scope and subject that still wait unseen."""
    return message.scope is not None and message.subject is not None and message.kind in (Kind.NOTIFY, Kind.UPDATE)


WHOLE: Final = AgentName("*")
"""The key for the whole space; no agent has that name."""

MAX_REASON_CHARS: Final = 1_000


class Pause(NamedTuple):
    by: AgentName
    at: datetime
    reason: str = ""


def write_pauses(pauses: Mapping[AgentName, Pause]) -> str:
    """Return all pauses as the value of the setting."""
    fields = {name: {"by": p.by, "at": format_instant(p.at), "reason": p.reason} for name, p in pauses.items()}
    return to_json(fields) if fields else ""


@lru_cache(maxsize=8)
def read_pauses(value: str | None) -> Mapping[AgentName, Pause]:
    """Parse all pauses from the value of the setting."""
    fields = cast(Mapping[AgentName, Mapping[str, str]], json.loads(value or "{}"))
    return {name: Pause(AgentName(p["by"]), parse_instant(p["at"]), p["reason"]) for name, p in fields.items()}


def parse_reason(text: object) -> str:
    """Parse the reason of a pause: a line for people."""
    if not isinstance(text, str) or len(text) > MAX_REASON_CHARS or not text.isprintable():
        raise Invalid("reason", text, f"use printable text of at most {MAX_REASON_CHARS:,} characters")
    return text
