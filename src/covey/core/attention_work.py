"""What an answer tells of finished work: which worker did it, and how it ended."""

from typing import Final

from covey.core.attention import WorkNote
from covey.core.errors import Invalid
from covey.core.message import Message
from covey.core.run import Run, RunId, RunState, parse_run_id

WORK: Final = "work"
"""What the subject begins with under which a coordinator and a worker are found."""


def about_run(message: Message) -> RunId | None:
    """Return the run that an answer says that it is of; whether that is so, its record tells."""
    try:
        return parse_run_id(message.metadata.get("run"))
    except Invalid:
        return None


def work_note(message: Message, run: Run | None) -> WorkNote | None:
    """Return what an answer tells of finished work; None where it tells nothing of any."""
    if run is not None and (run.agent, run.session) == (message.sender.agent, message.sender.session):
        status = message.metadata.get("status")
        is_known = isinstance(status, str) and status in set(RunState)
        return WorkNote(str(run.label or run.key), str(status) if is_known else RunState.COMPLETED, run.id)
    if (message.subject or "").startswith(f"{WORK}-"):
        return WorkNote(message.sender.agent, RunState.COMPLETED)
    return None
