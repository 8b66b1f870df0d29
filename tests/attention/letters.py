"""Letters and pending mail with defaults: a test gives only the fields that matter."""

from datetime import UTC, datetime

from covey.core.attention.pending import Letter, OmittedCounts, OtherAgent, Pending, SenderRank
from covey.core.directory.card import Presence
from covey.core.identity import Grade, Identity
from covey.core.ledger.message import Kind
from covey.core.ledger.offer import Presentation
from covey.core.names import AgentName, OfferId, Scope, Subject, delivery_id
from covey.testing.fakes import numbered_uuid
from covey.testing.records import a_message_id

SENT_AT = datetime(2026, 4, 30, 14, 0, tzinfo=UTC)


def a_letter(
    number: int = 1,
    text: str = "hello",
    *,
    sender: str = "alice",
    grade: Grade = Grade.SESSION,
    kind: Kind = Kind.NOTIFY,
    rank: SenderRank = SenderRank.PEER,
    length: int | None = None,
    scope: str | None = None,
    subject: str | None = None,
    correlation_id: str | None = None,
) -> Letter:
    """Return a letter from alice."""
    return Letter(
        number=number,
        message_id=a_message_id(number),
        delivery_id=delivery_id(a_message_id(number), 1),
        sender=Identity(AgentName(sender), None, grade),
        kind=kind,
        sent_at=SENT_AT,
        text=text,
        length=len(text) if length is None else length,
        rank=rank,
        expects_reply=kind is Kind.REQUEST,
        scope=None if scope is None else Scope(scope),
        subject=None if subject is None else Subject(subject),
        correlation_id=correlation_id,
    )


def another(name: str, status: str | None = None, description: str = "") -> OtherAgent:
    """Return another agent, idle."""
    return OtherAgent(AgentName(name), Presence.IDLE, status, description)


def pending_for_bob(
    *letters: Letter,
    others: tuple[OtherAgent, ...] = (),
    left_out: OmittedCounts = OmittedCounts(),  # noqa: B008  (a value)
    has_announced: bool = True,
    offer: int | None = 1,
    presentation: Presentation = Presentation.ONCE,
) -> Pending:
    """Return the pending letters of bob, with the offer of that number."""
    return Pending(
        AgentName("bob"),
        letters,
        left_out,
        others,
        has_announced=has_announced,
        offer=None if offer is None else OfferId(numbered_uuid(offer)),
        presentation=presentation,
    )
