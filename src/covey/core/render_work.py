"""Finished work, as a coordinator is shown it: the worker, the status, and how to give the worker more work."""

from typing import Final

from covey.core.attention import Letter, Ways, WorkNote
from covey.core.message import Kind
from covey.core.names import AgentName
from covey.core.render_escape import one_line

TAG: Final = "task-notification"


def work_fields(letter: Letter, agent: AgentName, ways: Ways) -> dict[str, str]:
    """Return the fields for the finished work in a letter; none without such work, or if the reader is no
    coordinator."""
    if not ways.worker:
        return {}
    note = letter.work or _of_task(letter)
    if note is None:
        return {}
    goes_on = ways.worker.format(agent=agent, number=letter.number, message=letter.message_id)
    told = {
        "worker": note.worker,
        "status": note.status,
        "run": note.run or "",
        "session": note.session or "",
        "continue": goes_on,
    }
    return {name: value for name, value in told.items() if value}


def work_line(letter: Letter, agent: AgentName, ways: Ways) -> str:
    """Return the fields of `work_fields` as words that follow the letter's sender and time; empty without any."""
    told = {name: one_line(value) for name, value in work_fields(letter, agent, ways).items()}
    if not told:
        return ""
    which = "".join(f", {name} {told[name]}" for name in ("session", "run") if name in told)
    return f" [{TAG}: worker {told['worker']}{which} has {told['status']}; to continue it: {told['continue']}]"


def _of_task(letter: Letter) -> WorkNote | None:
    """Return the note on finished work for a letter that reports the end of a task; otherwise None."""
    from covey.core.task import FINISHED  # here because most readers are no coordinators

    task = letter.task
    if task is None or letter.kind is not Kind.UPDATE or task.state not in FINISHED:
        return None
    return WorkNote(task.agent, task.state)
