"""Answers of all toolkits: data as JSON, errors and outcomes as sentences for a model; all are rendered safely.

Texts of others are put on one line and made harmless, and lists are limited.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from covey.core.errors import CoveyError, Invalid
from covey.core.json import Json, JsonObject, to_json
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.names import AgentName
from covey.core.text.escape import contained, harmless_object, one_line
from covey.toolkits.tool import ToolAnswer

MANY_NAMES: Final = 20
"""The maximal number of names in an answer; the rest is counted."""

LONG: Final = 200
"""The maximal number of characters of a text in a sentence."""


def said(text: str, longest: int = LONG) -> str:
    """Return a text of another agent on one line, clipped, for use in an answer."""
    return one_line(clipped(text, longest))


def clipped(text: str, longest: int = LONG) -> str:
    """Return at most `longest` characters of a text, with an ellipsis for the rest."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence; a long list is cut, and says so."""
    more = f" and {len(names) - MANY_NAMES} more" if len(names) > MANY_NAMES else ""
    return ", ".join(names[:MANY_NAMES]) + more


def indented(text: str) -> str:
    """Indent lines of others below a line of ours, so that they can be told apart."""
    return "\n".join(f"  {line}" for line in text.split("\n"))


_PERSON: Final = "You can't repair this: tell the person you work for."

ADVICE: Final[Mapping[str, str]] = {
    "message-too-large": "Shorten it, or send it in several messages. Nothing was sent.",
    "not-yours": "Leave it to the agent that it belongs to.",
    "identity-refused": _PERSON,
    "beyond-token": "Leave it to the agent that it belongs to.",
    "messages-already-archived": "Nothing to do.",
    "not-an-approval": "Answer it as any other message.",
    "decision-missing": (
        'Answer with {"approve": true}, or {"approve": false, "reason": "…"}. A remark or a question is a new message.'
    ),
    "already-decided": "It can't be changed. Tell the asker, if that matters.",
    "messages-recipient-unknown": "",
    "messages-orphan-inbox": _PERSON,
    "message-unknown": "Copy the id exactly as you were shown it, or use the message's number.",
    "message-pruned": "It was closed long ago. Send a new message instead.",
    "number-unknown": "",
    "session-ended": _PERSON,
    "session-unknown": "Name the agent instead of its session.",
    "task-taken": "Leave it to that session.",
    "task-unknown": "Copy the task's id exactly as you were shown it, or use its number.",
    "quota-full": "Finish one of your tasks first; this one waits.",
    "illegal-move": "Nothing was changed.",
    "file-outside-roots": "Copy the file into one of these folders, or send its text.",
    "ticket-unknown": "Copy the ticket exactly as you were given it.",
    "delivery-unknown": "",
    "blob-missing": "Ask the sender for the file again.",
    "store-busy": "Try again in a moment.",
    "store-full": _PERSON,
    "store-read-only": _PERSON,
    "store-corrupt": _PERSON,
    "store-newer": _PERSON,
    "store-closed": _PERSON,
    "store-missing": _PERSON,
    "store-unconfirmed": f"It may have been kept or lost. {_PERSON}",
    "store-stopped": _PERSON,
    "record-damaged": _PERSON,
    "message-damaged": "Don't use it, and tell its sender or the person you work for.",
}
"""By error code; the advice of other errors is used as it is."""


def advice(error: CoveyError) -> str:
    """Return the next step for a model. The message of Invalid already names the broken rule, so that it gets no
    advice."""
    return "" if isinstance(error, Invalid) else ADVICE.get(error.code, error.advice)


LONGEST: Final = 600
"""The maximal length of an error message: it may contain everything that the model has sent."""


def as_json(data: JsonObject, *, is_error: bool = False) -> ToolAnswer:
    """Return data as the JSON that a tool's description promises."""
    shown = harmless_object(data)
    return ToolAnswer(to_json(shown), shown, is_error)


def rendered(answer: ToolAnswer) -> ToolAnswer:
    """Return an answer that is safe to show a model, whatever a tool put into it: every text of its data is harmless,
    and its text hides nothing and has no tags. Every call ends here. A tool itself renders only lines that others
    wrote."""
    return answer._replace(text=contained(answer.text), data=harmless_object(answer.data))


def refused(error: CoveyError, hint: str | None = None) -> ToolAnswer:
    """Return an error as an answer: the error and the next step. `hint` replaces the usual advice."""
    told = said(error.message, LONGEST)
    stop = "" if told.endswith((".", "?", "!")) else "."
    what_to_do = advice(error) if hint is None else hint
    details = {name: _short(value) for name, value in error.details.items()}
    return ToolAnswer(
        f"{told}{stop} {what_to_do}".rstrip(),
        {"error": {"code": error.code, "message": told, "details": harmless_object(details), "advice": what_to_do}},
        is_error=True,
    )


def _short(value: Json) -> Json:
    return clipped(value, LONGEST) if isinstance(value, str) else value


def outcome_lines(receipt: ReceiptRecord) -> Iterator[str]:
    """Iterate over lines about the outcome; there are none for a message without recipients."""
    copies = _by_agent(receipt.delivered)
    waiting = [name for name, copy in copies.items() if copy.is_parked]
    there = [name for name in copies if name not in waiting]
    if there:
        yield f"Sent to {listed(there)}."
    if waiting:
        yield f"Kept for {listed(waiting)}, offline now: read when back."
    yield from failures(receipt)


def failures(receipt: ReceiptRecord) -> Iterator[str]:
    """Iterate over the refusals, one line each."""
    for copy in receipt.refused:
        code, reason = refusal_of(copy)
        yield f"{copy.agent} did not get it: {said(reason)} ({said(code)})."


def outcome_data(receipt: ReceiptRecord) -> JsonObject:
    """Return the outcome as data."""
    delivered: list[Json] = [
        {"agent": name, "state": "waits" if copy.is_parked else "delivered"}
        for name, copy in _by_agent(receipt.delivered).items()
    ]
    refused: list[Json] = []
    for copy in receipt.refused:
        code, reason = refusal_of(copy)
        refused.append({"agent": copy.agent, "code": code, "reason": reason})
    return {"message_id": receipt.message_id, "delivered": delivered, "refused": refused}


def refusal_of(copy: DeliveryRecord) -> tuple[str, str]:
    """Return the code and the text of a refusal."""
    code, _, reason = (copy.reason or "").partition(": ")
    return code, reason or code


def _by_agent(copies: tuple[DeliveryRecord, ...]) -> dict[AgentName, DeliveryRecord]:
    """Return one copy for each agent that has one."""
    return {copy.agent: copy for copy in reversed(copies) if copy.agent is not None}
