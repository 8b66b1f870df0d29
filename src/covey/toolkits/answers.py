"""Answers of all toolkits: data as JSON, and errors as text for a model; both are rendered safely."""

from collections.abc import Mapping
from typing import Final

from covey.core.errors import CoveyError, Invalid
from covey.core.json import Json, JsonObject, to_json
from covey.core.text.data import harmless_object
from covey.core.text.escape import contained
from covey.toolkits.tool import Answer
from covey.toolkits.wording import clipped, said

_PERSON: Final = "You can't mend this: tell the person you work for."

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
    "already-decided": "It can't be changed. Tell the one who asked, where that matters.",
    "messages-recipient-unknown": "",
    "messages-orphan-inbox": _PERSON,
    "message-unknown": "Copy the id exactly as you were shown it, or use the message's number.",
    "message-pruned": "It was settled long ago. Send a new message instead.",
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
    "message-damaged": "Leave it, and tell its sender or the person you work for.",
}
"""By error code; the advice of other errors is used as it is."""


def advice(error: CoveyError) -> str:
    """Return the next step for a model. The message of Invalid already names the broken rule, so that it gets no
    advice."""
    return "" if isinstance(error, Invalid) else ADVICE.get(error.code, error.advice)


LONGEST: Final = 600
"""The maximal length of an error message: it may contain everything that the model has sent."""


def as_json(data: JsonObject, *, is_error: bool = False) -> Answer:
    """Return data as the JSON that a tool's description promises."""
    shown = harmless_object(data)
    return Answer(to_json(shown), shown, is_error)


def rendered(answer: Answer) -> Answer:
    """Return an answer that is safe to show a model, whatever a tool put into it: every text of its data is harmless,
    and its text hides nothing and has no tags. Every call ends here. A tool itself renders only lines that others
    wrote."""
    return answer._replace(text=contained(answer.text), data=harmless_object(answer.data))


def refused(error: CoveyError, hint: str | None = None) -> Answer:
    """Return an error as an answer: the error and the next step. `hint` replaces the usual advice."""
    told = said(error.message, LONGEST)
    stop = "" if told.endswith((".", "?", "!")) else "."
    what_to_do = advice(error) if hint is None else hint
    details = {name: _short(value) for name, value in error.details.items()}
    return Answer(
        f"{told}{stop} {what_to_do}".rstrip(),
        {"error": {"code": error.code, "message": told, "details": harmless_object(details), "advice": what_to_do}},
        is_error=True,
    )


def _short(value: Json) -> Json:
    return clipped(value, LONGEST) if isinstance(value, str) else value
