"""The approval: a request that is answered by approving or rejecting, as data that other programs write and read too.

    {"type": "plan_approval_request", "request_id": "…"}
    {"type": "plan_approval_response", "request_id": "…", "approve": false, "feedback": "the tests first"}

The data is in a data part, or is the whole text of a message: some programs can send only texts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, NewType

from covey.core.errors import Invalid
from covey.core.json import Json, JsonObject, to_json
from covey.core.ledger.message import DataPart, Kind, Message, Part, TextPart, text_of
from covey.core.ledger.outcome import Outcome, OutcomeKind, settled_outcome
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.wire import read_json
from covey.core.names import MessageId

ApprovalName = NewType("ApprovalName", str)
"""The subject of an approval: plan_approval, shutdown, or a program's own name, such as deploy."""

PLAN: Final = ApprovalName("plan_approval")
SHUTDOWN: Final = ApprovalName("shutdown")

_REQUEST: Final = "_request"
_RESPONSE: Final = "_response"
_AGREED: Final = frozenset({PLAN, SHUTDOWN})
"""Names that make a message a request for approval, whichever program sends it. Any other name does so only together
with the id of its own message, because other programs may mean something else by it."""

_SAME: Final[Mapping[str, ApprovalName]] = {"plan": PLAN, "shut_down": SHUTDOWN}
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ABOUT: Final[Mapping[str, str]] = {PLAN: "plan"}
_WHY: Final[Mapping[str, str]] = {PLAN: "feedback"}
_REASON: Final = "reason"
"""The field for the question, and for the reason of the decision, unless the name has its own word for it."""

LONGEST_TEXT: Final = 64 * 1024
"""A longer text is not parsed as JSON; no program that sends only texts can send one."""


class ApprovalRequest(NamedTuple):
    """The request for approval that a message carries."""

    name: ApprovalName
    request_id: str
    """The id that the answer repeats. In requests of Covey it is the id of the message."""

    @property
    def type(self) -> str:
        return self.name + _REQUEST

    @property
    def answer_type(self) -> str:
        return self.name + _RESPONSE

    @property
    def label(self) -> str:
        """The name in one short word, for people: plan, shutdown, deploy."""
        return self.name.removesuffix("_approval") or self.name


class Decision(NamedTuple):
    approve: bool
    reason: str = ""

    @property
    def word(self) -> str:
        return "approved" if self.approve else "rejected"

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}" if self.reason else self.word


def parse_approval_name(text: object) -> ApprovalName:
    """Parse the name of an approval. plan, shutdown and deploy mean the same as plan_approval_request, shutdown_request
    and deploy_request."""
    name = re.sub(r"[\s-]+", "_", text.strip().lower()).removesuffix(_REQUEST) if isinstance(text, str) else ""
    if not _NAME.fullmatch(name):
        raise Invalid("approval", text, "use plan, shutdown or a name of your own: letters, digits and _, at most 64")
    return _SAME.get(name, ApprovalName(name))


# ------------------------------------------------------------------------------------------------------ the request


def request_part(name: ApprovalName, message_id: MessageId) -> DataPart:
    """Return the data part that makes a message a request for approval."""
    return DataPart({"type": name + _REQUEST, "request_id": message_id})


def requested(message: Message) -> ApprovalRequest | None:
    """Return the request for approval in a message, or None. Only a request that expects a reply can carry one."""
    if message.kind is not Kind.REQUEST or not message.expects_reply:
        return None
    for data in _objects(message.parts):
        said = data.get("type")
        if not isinstance(said, str) or not said.endswith(_REQUEST):
            continue
        name, given = ApprovalName(said.removesuffix(_REQUEST)), data.get("request_id")
        if name in _AGREED or (given == message.id and _NAME.fullmatch(name)):
            return ApprovalRequest(name, given if isinstance(given, str) and given else message.id)
    return None


# ------------------------------------------------------------------------------------------------------- the answer


def answer_parts(request: ApprovalRequest, decision: Decision) -> tuple[Part, ...]:
    """Return a decision as the parts of its message: a sentence for the reader, and the data."""
    data: dict[str, Json] = {
        "type": request.answer_type,
        "request_id": request.request_id,
        "approve": decision.approve,
        _WHY.get(request.name, _REASON): decision.reason,
    }
    said = str(decision)
    return TextPart(said[0].upper() + said[1:]), DataPart(data)


def read_decision(request: ApprovalRequest, parts: Sequence[Part]) -> Decision | None:
    """Return the decision in an answer, or None. {"approve": true} is enough; if other fields are there and wrong,
    raise Invalid."""
    for data in _objects(parts):
        if "approve" in data or data.get("type") == request.answer_type:
            return _decision(request, data, parts)
    return None


def _decision(request: ApprovalRequest, data: JsonObject, parts: Sequence[Part]) -> Decision:
    approve = data.get("approve")
    if not isinstance(approve, bool):
        raise Invalid("approve", approve, "use true or false")
    if (said := data.get("type", request.answer_type)) != request.answer_type:
        raise Invalid("type", said, f"the answer to this request is a {request.answer_type}")
    if (given := data.get("request_id", request.request_id)) != request.request_id:
        raise Invalid("request_id", given, f"this request is {request.request_id}")
    why = next((data[name] for name in ("feedback", _REASON) if data.get(name) is not None), None)
    if why is not None and not isinstance(why, str):
        raise Invalid(_REASON, why, "use a text")
    return Decision(approve, why if why is not None else _beside(parts))


def _beside(parts: Sequence[Part]) -> str:
    """Return the text of an answer besides its decision."""
    return text_of(tuple([part for part in parts if isinstance(part, TextPart) and _as_object(part.text) is None]))


# --------------------------------------------------------------------------------------------------------- the data


def approval_data(message: Message) -> JsonObject | None:
    """Return the data by which a message is a request for approval, or has the form of an answer to one."""
    request = requested(message)
    for data in _objects(message.parts):
        if request is not None and data.get("type") == request.type:
            return data
        if message.kind is Kind.RESPONSE and isinstance(data.get("approve"), bool) and "type" in data:
            return data
    return None


def bare_text(message: Message) -> str | None:
    """Return a request for approval or its answer as one text, for programs that read only texts: the JSON, with the
    text of the request in it. Return None for any other message."""
    request, data = requested(message), approval_data(message)
    if data is None:
        return None
    has_text = request is not None and any(isinstance(part, DataPart) and part.data is data for part in message.parts)
    return to_json({**data, _ABOUT.get(request.name, _REASON): message.text} if request and has_text else data)


def _objects(parts: Sequence[Part]) -> Iterator[JsonObject]:
    """Yield the JSON objects that a message carries, as data or as a text that is JSON, the last one first."""
    for part in reversed(parts):
        if isinstance(part, DataPart) and isinstance(part.data, Mapping):
            yield part.data
        elif isinstance(part, TextPart) and (data := _as_object(part.text)) is not None:
            yield data


def _as_object(text: str) -> JsonObject | None:
    if len(text) > LONGEST_TEXT or not text.lstrip().startswith("{"):
        return None
    try:
        data = read_json(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None  # pyright: ignore[reportUnknownVariableType]  # JSON


class ApprovalState(StrEnum):
    """The state of a request for approval."""

    APPROVED = "approved"
    REJECTED = "rejected"
    WAITING = "waiting"
    """The wait timed out. The request stays open, and the late decision will arrive once, in the same thread."""
    FAILED = "failed"
    """There will be no decision: refused, undeliverable, expired or closed; the reason says which."""


class Approval(NamedTuple):
    """The decision on a request for approval. True only if the request was approved."""

    state: ApprovalState
    ticket: Ticket
    reason: str = ""
    """The reason of the decision, or the cause of the failure."""
    answer: Message | None = None

    def __bool__(self) -> bool:
        """True only if the request was approved, so that `if approval:` lets nothing else pass."""
        return self.state is ApprovalState.APPROVED


def approval_of(request: ApprovalRequest, outcome: Outcome) -> Approval:
    """Return the approval that follows from the outcome of an ask. An answer without a decision is no approval."""
    ticket, answer = outcome.ticket, outcome.answer
    if answer is not None:
        try:
            decision = read_decision(request, answer.parts)
        except Invalid as fault:
            return Approval(ApprovalState.FAILED, ticket, f"answered with a wrong decision: {fault.message}", answer)
        if decision is None:
            return Approval(ApprovalState.FAILED, ticket, "answered without a decision", answer)
        return Approval(ApprovalState(decision.word), ticket, decision.reason, answer)
    if settled_outcome(ticket) is None:
        return Approval(ApprovalState.WAITING, ticket, outcome.reason)
    if outcome.kind is OutcomeKind.DELIVERED_NO_REPLY:
        return Approval(ApprovalState.FAILED, ticket, f"closed without a decision ({ticket.close_reason})")
    return Approval(ApprovalState.FAILED, ticket, outcome.reason or str(outcome.kind))
