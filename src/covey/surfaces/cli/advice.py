"""Advice in the words of the command line, for errors whose own advice names no command."""

from collections.abc import Mapping
from typing import Final

from covey.core.errors import CoveyError, Invalid

ADVICE: Final[Mapping[str, str]] = {
    "message-too-large": "Attach the bulk with --file: it is stored once and travels as a reference.",
    "illegal-move": "`covey receipt ID` shows its present state.",
    "not-yours": "Act as the agent it belongs to: --agent NAME.",
    "identity-refused": "Put a token that works into COVEY_TOKEN, or unset it and claim a name.",
    "beyond-token": "Use another token in COVEY_TOKEN, or unset it.",
    "token-unknown": "`covey token list` shows the ids.",
    "messages-archive-without-reply": "Reply to it first: `covey reply ID TEXT`; then archive.",
    "messages-already-archived": "Nothing to do: it is archived. `covey thread ID` shows it.",
    "loop-commit-precondition-missing": "Answer and archive what is owed, or force it: --force-commit-phase --why.",
    "label-ambiguous": "Use one of the session keys instead: `covey agents NAME` lists them.",
    "session-ended": "`covey join` starts a new one; unhandled mail waits for it.",
    "file-outside-roots": "Copy the file into this folder, or run covey in a folder above it.",
    "messages-recipient-unknown": "`covey agents` lists who is known; --register makes a new name known.",
    "message-unknown": "Check the id; `covey search WORD` finds messages by their words.",
    "number-unknown": "`covey inbox` shows the numbers of what waits.",
    "session-unknown": "`covey agents NAME` lists the sessions of an agent.",
    "delivery-unknown": "`covey receipt ID` shows its deliveries.",
    "store-corrupt": "Keep a copy of the file; `covey doctor` looks closer, `covey restore` takes a backup.",
}
"""By the code of the error; the others advise well enough themselves."""


def advice(error: CoveyError) -> str:
    """Return what to do next. A wrong value's message ends with the rule that it breaks: there is nothing to add."""
    return "" if isinstance(error, Invalid) else ADVICE.get(error.code, error.advice)
