"""Options of a message in the Python API, parsed into a draft and a policy."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, TypedDict

from covey.core.address import parse_address
from covey.core.checks import addresses, callback, check_known, choice, duration, files, flag, whole
from covey.core.directory.routing import WhenOffline
from covey.core.errors import Invalid
from covey.core.ids import parse_correlation_id, parse_message_id, parse_new_message_id, parse_traceparent
from covey.core.json import Json
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import DataPart, FilePart, Kind, Part, TextPart
from covey.core.names import parse_scope, parse_subject
from covey.core.plain import plain, plain_object
from covey.core.times import aware
from covey.ports.clock import Clock
from covey.services.mail.recipients import SendPolicy, WhenUnknown


class MessageOptions(TypedDict, total=False):
    """Options of `send`, `ask` and `reply` besides the recipient and the text."""

    id: str
    """The message's id. A retry with the same id has no second effect."""
    subject: str
    scope: str
    round: int
    data: Json
    """A data part beside the text."""
    files: Sequence[FilePart]
    """Snapshots made by `attach`."""
    in_reply_to: str
    """The id of the message that a request or notify refers to, in its thread: a question back, a remark."""
    relaying: str
    """The id of the message that this one passes on. Passing a message on spends one of its hops."""
    correlation_id: str
    callback: tuple[str, str]
    """The channel and conversation that results belong to."""
    deadline: datetime
    expires_at: datetime
    expires_in: timedelta
    traceparent: str
    metadata: Mapping[str, Json]
    when_offline: Literal["park", "refuse"]
    when_unknown: Literal["refuse", "register"]
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
