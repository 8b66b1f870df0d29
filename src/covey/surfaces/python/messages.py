"""Messages in the Python API: their options, receipts, replies, requests for approval, and texts of a negotiation."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, TypedDict

from covey.core.checks import (
    addresses,
    callback,
    check_known,
    choice,
    duration,
    files,
    flag,
    is_unicode,
    note,
    plain,
    plain_object,
    seconds,
    whole,
)
from covey.core.checks import callback as parse_callback
from covey.core.checks import text as parse_text
from covey.core.directory.routing import WhenOffline
from covey.core.directory.session import Session
from covey.core.errors import Invalid
from covey.core.identity import Identity, parse_address, parse_session_key
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Callback, DataPart, FilePart, Kind, Part, TextPart
from covey.core.ledger.offer import EvidenceGrade
from covey.core.ledger.outcome import ReceiptRecord as Record
from covey.core.names import (
    MessageId,
    is_uuid_like,
    parse_correlation_id,
    parse_label,
    parse_message_id,
    parse_new_message_id,
    parse_scope,
    parse_session_id,
    parse_subject,
    parse_traceparent,
)
from covey.core.times import aware
from covey.core.work.approval import Approval, Decision, parse_approval_name
from covey.ports.clock import Clock
from covey.ports.store import Operation
from covey.services.dialogue.negotiation import SessionExchange
from covey.services.directory.sessions import SessionLookup
from covey.services.mail.mail import Mail
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.services.space import Services


class MessageOptions(TypedDict, total=False):
    """Options of `send`, `ask` and `reply` besides the recipient and the text."""

    id: str
    """The message's id. A retry with the same id has no second effect."""
    subject: str
    """The topic in kebab-case. With a scope, a newer notify or update on the subject supersedes an unread one."""
    scope: str
    """The piece of work that the message belongs to. The gate checks the unanswered questions of a scope."""
    round: int
    """The round of a dialogue, as a number for the reader."""
    data: Json
    """A data part beside the text."""
    files: Sequence[FilePart]
    """Snapshots made by `attach`."""
    in_reply_to: str
    """The id of the message that a request or notify refers to, in its thread: a question back, a remark."""
    relaying: str
    """The id of the message that this one passes on. Passing a message on spends one of its hops."""
    correlation_id: str
    """A uuid of the caller's own, which replies carry too."""
    callback: tuple[str, str]
    """The channel and conversation that results belong to."""
    deadline: datetime
    """The time until which an answer or a result is wanted."""
    expires_at: datetime
    """The time after which a message that was not shown to a model expires."""
    expires_in: timedelta
    """The same as a span from now."""
    traceparent: str
    """The W3C trace context that the message belongs to."""
    metadata: Mapping[str, Json]
    """Values for programs. A model is not shown them."""
    when_offline: Literal["park", "refuse"]
    """For an agent without a live session: `park` keeps the message for its next session, `refuse` does not."""
    when_unknown: Literal["refuse", "register"]
    """For a name that the space does not know: raise an error, or register the agent and keep the message for it."""
    await_session: bool
    """Let mail for a session id that is not registered yet wait for that session."""
    answers_meanwhile: bool
    """`ask`: this program answers other agents while it waits, so its wait can't be part of a deadlock."""


_KNOWN = frozenset(MessageOptions.__annotations__)
_USUAL: Final = SendPolicy()
_CLOSING: Final = SendPolicy(closes=True)


def draft_from(
    kind: Kind,
    to: str | Sequence[str],
    text: str,
    options: MessageOptions,
    clock: Clock,
    *,
    expects_reply: bool = False,
    in_reply_to: str | None = None,
) -> Draft:
    """Return the draft that a call describes. Raise Invalid, with the name of the field, for a wrong value."""
    draft = Draft(kind, tuple([parse_address(recipient) for recipient in addresses(to)]), _parts(text, options))
    if expects_reply or in_reply_to is not None:
        answered = parse_message_id(in_reply_to) if in_reply_to is not None else None
        draft = draft._replace(expects_reply=expects_reply, in_reply_to=answered)
    return _with_options(draft, options, clock) if options else draft


def _with_options(draft: Draft, options: MessageOptions, clock: Clock) -> Draft:
    check_known(options, _KNOWN)
    expires_at = aware(options["expires_at"]) if "expires_at" in options else None
    if "expires_in" in options:
        expires_at = _from_now(duration(options["expires_in"], "expires_in"), clock)
    return draft._replace(
        id=parse_new_message_id(options["id"]) if "id" in options else None,
        in_reply_to=parse_message_id(options["in_reply_to"]) if "in_reply_to" in options else draft.in_reply_to,
        subject=parse_subject(options["subject"]) if "subject" in options else None,
        scope=parse_scope(options["scope"]) if "scope" in options else None,
        round=whole(options["round"], "round") if "round" in options else None,
        relaying=parse_message_id(options["relaying"]) if "relaying" in options else None,
        correlation_id=parse_correlation_id(options["correlation_id"]) if "correlation_id" in options else None,
        callback=callback(options["callback"]) if "callback" in options else None,
        deadline=aware(options["deadline"]) if "deadline" in options else None,
        expires_at=expires_at,
        traceparent=parse_traceparent(options["traceparent"]) if "traceparent" in options else None,
        metadata=plain_object(options["metadata"], "metadata") if "metadata" in options else {},
    )


def policy_from(options: MessageOptions, *, closes: bool = False) -> SendPolicy:
    """Return the send policy of a call."""
    if not options:
        return _CLOSING if closes else _USUAL
    return SendPolicy(
        when_offline=choice(WhenOffline, options.get("when_offline", "park"), "when_offline"),
        when_unknown=choice(WhenUnknown, options.get("when_unknown", "refuse"), "when_unknown"),
        may_await_session=flag(options.get("await_session", False), "await_session"),
        closes=closes,
        waits=0.0 if flag(options.get("answers_meanwhile", False), "answers_meanwhile") else None,
    )


def _parts(text: object, options: MessageOptions) -> tuple[Part, ...]:
    if not isinstance(text, str):
        raise Invalid("text", text, "use a text")
    if not options:
        return (TextPart(text),)
    parts: list[Part] = [TextPart(text)]
    if "data" in options:
        parts.append(DataPart(plain(options["data"], "data")))
    if "files" in options:
        parts.extend(files(options["files"]))
    return tuple(parts)


def _from_now(span: timedelta, clock: Clock) -> datetime:
    try:
        return clock.now() + span
    except OverflowError:
        raise Invalid("expires_in", span, "it ends after year 9999 or before year 1") from None


StateName = Literal["queued", "offered", "in_context", "handled"]
GradeName = Literal["witnessed", "named", "inferred"]


class Receipt:
    """Returned by `send`: the message is durable. The receipt shows the deliveries as of the last read.

    True if a copy reached an inbox. False if every copy was refused or undeliverable, or the message had no recipient.
    """

    def __init__(self, record: Record, mail: Mail) -> None:
        self._record = record
        self._mail = mail

    @property
    def message_id(self) -> MessageId:
        return self._record.message_id

    @property
    def deliveries(self) -> tuple[DeliveryRecord, ...]:
        """One delivery for each copy, including refused ones. Its `seen` is the part of the text that the model was
        shown, and the whole length."""
        return self._record.deliveries

    @property
    def delivered(self) -> tuple[DeliveryRecord, ...]:
        """The copies that reached an inbox."""
        return self._record.delivered

    @property
    def refused(self) -> tuple[DeliveryRecord, ...]:
        """The copies that did not reach an inbox, each with its reason."""
        return self._record.refused

    async def refresh(self) -> "Receipt":
        """Read the deliveries again."""
        self._record = await self._mail.receipt(self.message_id)
        return self

    async def until(self, state: StateName, *, grade: GradeName = "named", timeout: float | None = 30.0) -> bool:
        """Wait until every recipient's copy has reached `state`. Return False after `timeout` seconds; None
        waits without limit.

        For in_context, the evidence must be at least of `grade`; the default accepts witnessed and named.
        """
        progress = await self._mail.until(
            self.message_id,
            choice(DeliveryState, state, "state"),
            seconds(timeout, "timeout"),
            choice(EvidenceGrade, grade, "grade"),
        )
        self._record = progress.receipt
        return progress.reached

    def __bool__(self) -> bool:
        """True if a copy reached an inbox."""
        return bool(self.delivered)

    def __repr__(self) -> str:
        return f"<Receipt {self.message_id} {', '.join(map(_state, self.deliveries))}>"


def _state(delivery: DeliveryRecord) -> str:
    part = f" ({delivery.seen})" if delivery.is_partly_seen else ""
    return f"{delivery.agent}: {delivery.state}{part}"


async def reply_to(
    services: Services, actor: Identity, message_id: str, text: str, options: MessageOptions, *, close: bool
) -> Receipt:
    """Send a response to the sender of a message."""
    answered = parse_message_id(message_id)
    draft = draft_from(Kind.RESPONSE, (), text, options, services.clock, in_reply_to=answered)
    record = await services.mail.send(draft, actor, policy_from(options, closes=flag(close, "close")))
    return Receipt(record, services.mail)


async def request_approval(
    services: Services, actor: Identity, to: str, what: str, text: str, timeout: float | None, options: MessageOptions
) -> Approval:
    """Ask an agent for an approval and wait for its decision."""
    name = parse_approval_name(what)
    draft = draft_from(Kind.REQUEST, to, text, options, services.clock, expects_reply=True)
    return await services.approvals.request(draft, name, actor, policy_from(options), seconds(timeout, "timeout"))


async def decide(services: Services, actor: Identity, message_id: str, approve: bool, reason: str) -> Receipt:
    """Approve or reject the request for approval in a message."""
    decision = Decision(approve, note(reason, "reason"))
    record = await services.approvals.decide(parse_message_id(message_id), actor, decision)
    return Receipt(record, services.mail)


async def say(
    services: Services, actor: Identity, to: str, text: object, timeout: float | None, callback: object = None
) -> SessionExchange:
    """Send a text to a session. With a timeout above 0, wait for the reply."""
    place: Callback | None = None if callback is None else parse_callback(callback)
    if not isinstance(text, str) or not text.strip() or not is_unicode(text):
        raise Invalid("text", text, "say something")
    parts = (TextPart(text),)
    whom = _meant(services.directory.lookup, parse_text(to, "recipient"))
    return await services.negotiations.say(parts, whom, actor, seconds(timeout, "timeout"), place)


def _meant(lookup: SessionLookup, to: str) -> Operation[Session]:
    if to.startswith("agent:"):
        return lookup.by_key(parse_session_key(to))
    if is_uuid_like(to):
        return lookup.by_id(parse_session_id(to))
    return lookup.by_label(parse_label(to))
