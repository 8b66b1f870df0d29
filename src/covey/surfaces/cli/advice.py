"""Advice in the words of the command line, for errors whose own advice names no command."""

import re
from collections.abc import Container, Mapping
from typing import Final

from covey.core.errors import CoveyError, IllegalMove, Invalid

ADVICE: Final[Mapping[str, str]] = {
    "message-too-large": "Send a shorter text. Attach the bulk with --file: it is stored once, and sent by reference.",
    "illegal-move": "`covey receipt ID` shows its present state.",
    "task-taken": "`covey task ID` shows who has it, and its attempt.",
    "task-unknown": "`covey tasks --all` lists them; `covey thread ID` shows a message that is no task.",
    "quota-full": "`covey tasks --agent NAME` shows what it works on; `covey join NAME --quota N` allows more.",
    "not-yours": "Act as the agent it belongs to: --as NAME.",
    "identity-refused": "Put a token that works into COVEY_TOKEN, or unset it and claim a name.",
    "beyond-token": "Use another token in COVEY_TOKEN, or unset it; on NATS, use the key of whom it concerns.",
    "token-unknown": "`covey token list` shows the ids.",
    "messages-archive-without-reply": "Reply to it first: `covey reply ID TEXT`; then archive.",
    "not-an-approval": "Answer it: `covey reply ID TEXT`.",
    "decision-missing": "Decide: `covey approve ID`, or `covey reject ID --reason TEXT`.",
    "messages-already-archived": "Nothing to do: it is archived. `covey thread ID` shows it.",
    "loop-commit-precondition-missing": (
        "Answer the open questions, and archive the answered ones. "
        "To pass in spite of them, add --force-commit-phase --why REASON."
    ),
    "label-ambiguous": "Use one of the session keys instead: `covey sessions` lists them.",
    "session-ended": "`covey join` starts a new one; unhandled mail waits for it.",
    "file-outside-roots": "Copy the file into this folder, or run covey in a folder above it.",
    "messages-recipient-unknown": "`covey agents` lists the known agents. To register a new name, add --register.",
    "message-unknown": "Check the id; `covey search WORD` finds messages by their words.",
    "number-unknown": "`covey inbox` shows the numbers of the waiting messages.",
    "session-unknown": "`covey sessions` lists those that are live.",
    "run-unknown": "`covey sessions --all` lists the children.",
    "spawn-limit": "`covey stop NAME` ends one of them; `covey join AGENT --max-children N` allows more.",
    "spawn-depth": "Let a session further up start it; `covey join AGENT --max-depth N` allows more.",
    "delivery-unknown": "`covey receipt ID` shows its deliveries.",
    "would-overwrite": "Choose another place. To replace it, add --replace. Nothing was changed.",
    "record-damaged": (
        "`covey doctor` lists the damaged records. "
        "Restore a backup, or save the readable records with `covey doctor --salvage NEW.db`."
    ),
    "channel-unknown": "`covey channels` lists them; `covey channels add NAME` makes one.",
    "post-unknown": "`covey channels posts NAME` shows the ids.",
    "conversation-unbound": "Bind it: `covey channels bind NAME CONVERSATION --to AGENT`.",
    "store-corrupt": "Keep a copy of the file; `covey doctor` looks closer, `covey restore` takes a backup.",
}
"""Advice by error code. Errors that are not listed here carry advice of their own."""


TASK_ADVICE: Final[Mapping[tuple[str, str], str]] = {
    ("pending", "start"): "Accept it first: `covey accept ID`.",
    ("pending", "progress"): "Accept it first: `covey accept ID`.",
    ("pending", "complete"): "Accept it first: `covey accept ID`.",
    ("accepted", "progress"): "Start it first: `covey update ID --start`.",
    ("accepted", "complete"): "Start it first: `covey update ID --start`.",
    ("accepted", "reject"): "It is accepted: `covey update ID --fail WHY` gives it up.",
    ("working", "reject"): "It is accepted: `covey update ID --fail WHY` gives it up.",
}
"""Advice for an illegal move of a task, by its state and the move."""


_OWN: Final = "advice_of_verb"


_COMMAND: Final = re.compile("`[^`]*`")
_OPTION: Final = re.compile(r"--[a-z][a-z-]*")
_BETWEEN_SENTENCES: Final = re.compile(r"(?<=\.) ")


def advice(error: CoveyError, options: Container[str]) -> str:
    """Return the next step for the caller of a verb with these options.

    A sentence that names another option is left out; an option in a command between backticks belongs to that command.
    """
    sentences = _BETWEEN_SENTENCES.split(_advice(error))
    return " ".join(
        sentence
        for sentence in sentences
        if all(option in options for option in _OPTION.findall(_COMMAND.sub("", sentence)))
    )


def _advice(error: CoveyError) -> str:
    """Return the advice in the words of the command line.

    The message of a wrong value ends with the rule that the value breaks, so there is no advice for it.
    """
    if isinstance(error, IllegalMove) and error.details.get("what") == "task":
        move = (str(error.details.get("state")), str(error.details.get("move")))
        return TASK_ADVICE.get(move, "`covey task ID` shows how it stands.")
    if isinstance(error, IllegalMove) and error.details.get("what") == "post":
        return "`covey channels posts NAME` shows those that failed."
    if isinstance(error, Invalid):
        return ""
    return vars(error).get(_OWN) or ADVICE.get(error.code, error.advice)


def advise(error: CoveyError, what: str) -> None:
    """Set the verb's own advice on an error. It takes precedence over all other advice."""
    setattr(error, _OWN, what)
