"""Advice on errors for a model, in terms of tools: a model sees neither Python nor a command line."""

from collections.abc import Mapping
from typing import Final

from covey.core.errors import CoveyError, Invalid

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
