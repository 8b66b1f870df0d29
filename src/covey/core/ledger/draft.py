"""The draft: a caller's message before the space sets its sender, thread, cause and hops, and the rules of its kind."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from covey.core.errors import HopsExhausted, Invalid, KindRule
from covey.core.identity import EVERYONE, Address, AddressKind, Identity
from covey.core.json import Json
from covey.core.ledger.message import Callback, Kind, Message, Part, TaskRef
from covey.core.limits import INITIAL_HOPS, MAX_COUNT, MAX_PARTS
from covey.core.names import AgentName, MessageId, Scope, Subject


class Draft(NamedTuple):
    """A message before the space has set its sender, its thread and its path."""

    kind: Kind
    to: tuple[Address, ...]
    """Empty on a reply, which goes to the sender of the answered message."""
    parts: tuple[Part, ...]
    id: MessageId | None = None
    """Set by a caller that may send the same message again; otherwise the space makes an id."""
    subject: Subject | None = None
    scope: Scope | None = None
    round: int | None = None
    in_reply_to: MessageId | None = None
    relaying: MessageId | None = None
    """The message that this one passes on or acts upon. Relaying spends one of that message's hops."""
    led_by: MessageId | None = None
    """The message that caused this one, if this one neither answers nor relays it. This one joins the causal tree of
    that message, and takes nothing else from it."""
    correlation_id: str | None = None
    expects_reply: bool = False
    task: TaskRef | None = None
    callback: Callback | None = None
    deadline: datetime | None = None
    expires_at: datetime | None = None
    traceparent: str | None = None
    metadata: Mapping[str, Json] = {}
    """Plain data for the recipient. The space keeps its own data on a message in the marks, not here."""


def check_kind(draft: Draft) -> None:
    """Raise KindRule if a draft breaks the rules of its kind, and Invalid for other wrong fields."""
    if draft.expects_reply and draft.kind is not Kind.REQUEST:
        raise KindRule(f"a {draft.kind} never expects a reply", kind=str(draft.kind))
    if draft.kind is Kind.RESPONSE and draft.in_reply_to is None:
        raise KindRule("a response names the request it answers in in_reply_to", kind="response")
    if draft.kind is Kind.TASK and (len(draft.to) > 1 or EVERYONE in draft.to):
        raise KindRule("a task goes to one agent", kind="task")
    if not draft.to and draft.in_reply_to is None:
        raise Invalid("recipients", (), "name at least one")
    if not 1 <= len(draft.parts) <= MAX_PARTS:
        raise Invalid("parts", len(draft.parts), f"a message has 1 to {MAX_PARTS} parts")
    if draft.round is not None and not 0 <= draft.round <= MAX_COUNT:
        raise Invalid("round", draft.round, f"use 0 to {MAX_COUNT:,}")


def compose(
    draft: Draft,
    sender: Identity,
    message_id: MessageId,
    now: datetime,
    answered: Message | None = None,
    relayed: Message | None = None,
    led_by: Message | None = None,
) -> Message:
    """Return the message that `draft` becomes; `answered`, `relayed` and `led_by` are the messages it refers to."""
    check_kind(draft)
    if answered is None and relayed is None:
        first = _first(draft, sender, message_id, now)
        return first if led_by is None else first._replace(root=led_by.root, cause=led_by.id, depth=led_by.depth + 1)
    to = draft.to or ((Address(AddressKind.AGENT, answered.sender.agent),) if answered else ())
    parent = relayed or answered
    hops_left, trace = path(sender.agent, to, answered, relayed)
    return Message(
        id=message_id,
        kind=draft.kind,
        sender=sender,
        to=to,
        parts=draft.parts,
        created_at=now,
        thread=answered.thread if answered else message_id,
        root=parent.root if parent else message_id,
        subject=draft.subject or (answered.subject if answered else None),
        scope=draft.scope or (answered.scope if answered else None),
        round=draft.round if draft.round is not None or answered is None else answered.round,
        cause=parent.id if parent else None,
        in_reply_to=draft.in_reply_to,
        correlation_id=draft.correlation_id or (answered.correlation_id if answered else None),
        expects_reply=draft.expects_reply,
        hops_left=hops_left,
        trace=trace,
        task=draft.task or (parent.task if parent and draft.kind is not Kind.TASK else None),
        callback=draft.callback or (parent.callback if parent else None),
        deadline=draft.deadline,
        expires_at=draft.expires_at,
        traceparent=draft.traceparent or (parent.traceparent if parent else None),
        metadata=draft.metadata,
        depth=parent.depth + 1 if parent else 0,
        marks=None,
    )


def _first(draft: Draft, sender: Identity, message_id: MessageId, now: datetime) -> Message:
    """Return a message that begins a dialogue and inherits nothing. The fields go by position, because most messages
    take this path, and keywords would double its cost."""
    (
        kind,
        to,
        parts,
        _,
        subject,
        scope,
        round_,
        in_reply_to,
        _,
        _,
        correlation_id,
        expects_reply,
        task,
        callback,
        deadline,
        expires_at,
        traceparent,
        metadata,
    ) = draft
    hops_left, trace = path(sender.agent, to, None, None)
    return Message(
        message_id,
        kind,
        sender,
        to,
        parts,
        now,
        message_id,
        message_id,
        subject,
        scope,
        round_,
        None,
        in_reply_to,
        correlation_id,
        expects_reply,
        hops_left,
        trace,
        task,
        callback,
        deadline,
        expires_at,
        traceparent,
        metadata,
        0,
        None,
    )


def path(
    sender: AgentName, to: tuple[Address, ...], answered: Message | None, relayed: Message | None
) -> tuple[int, tuple[AgentName, ...]]:
    """Return the hops left and the trace of a new message. An answer to the sender is no relay and changes neither."""
    if relayed is None and answered is not None:
        if all(is_back_to(address, answered) for address in to):
            return answered.hops_left, answered.trace
        relayed = answered
    if relayed is None:
        return INITIAL_HOPS - 1, (sender,)
    if relayed.hops_left <= 0:
        raise HopsExhausted(relayed.id)
    # A sender that passes on an answer to its own message is in the trace already.
    trace = relayed.trace if sender in relayed.trace else (*relayed.trace, sender)
    return relayed.hops_left - 1, trace


def is_back_to(address: Address, answered: Message) -> bool:
    """Tell whether `address` is where the answered message came from."""
    return address.value in (answered.sender.agent, answered.sender.session)


def closes_circle(message: Message, recipient: AgentName) -> bool:
    """Tell whether the message would return to an agent that it has already passed through. An answer to the sender
    keeps the trace unchanged, so it never closes a circle."""
    return message.trace[-1:] == (message.sender.agent,) and recipient in message.trace[:-1]
