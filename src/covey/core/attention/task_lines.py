"""Lines about the task of a letter, in every style: its id, its state, and how to report on it."""

from datetime import UTC
from typing import Final

from covey.core.attention.pending import Instructions, Letter, WorkNote
from covey.core.json import Json
from covey.core.ledger.message import Kind
from covey.core.names import AgentName
from covey.core.text.escape import one_line

CONVERSATION_CHARS: Final = 160
"""The number of characters of a conversation's name that are shown."""


def task_fields(letter: Letter) -> dict[str, str]:
    """Return the fields for the task of a letter; none if it has no task."""
    task = letter.task
    if task is None:
        return {}
    told = {"id": task.id, "agent": "" if letter.kind is Kind.TASK else task.agent, "state": task.state}
    if task.deadline is not None:
        told["deadline"] = task.deadline.astimezone(UTC).isoformat(timespec="seconds")
    if task.attempt > 1:
        told["attempt"] = str(task.attempt)
    return {name: value for name, value in told.items() if value}


def task_entry(letter: Letter) -> Json:
    """Return the fields of `task_fields` as an object, or None without any."""
    return {name: one_line(value) for name, value in task_fields(letter).items()} or None


def task_line(letter: Letter) -> str:
    """Return the fields of `task_fields` as words that follow the letter's sender and time; empty without any."""
    told = {name: one_line(value) for name, value in task_fields(letter).items()}
    if not told:
        return ""
    if letter.kind is not Kind.TASK:
        return f": task {told['id']} of {told['agent']} is {told['state']}"
    due = f", due {told['deadline']}" if "deadline" in told else ""
    again = f", attempt {told['attempt']}: an earlier session left it" if "attempt" in told else ""
    return f", {told['state']}{due}{again} (id {told['id']})"


def do_note(letter: Letter, agent: AgentName, ways: Instructions) -> str:
    """Return a note on how to report on the task that a letter hands over; empty without a task or without an
    instruction for it."""
    if letter.kind is not Kind.TASK:
        return ""
    return ways.task.format(agent=agent, number=letter.number, message=letter.message_id)


def conversation_of(letter: Letter) -> str:
    """Return the channel and the name of the conversation that a result belongs to; empty if there is none."""
    callback = letter.callback
    return "" if callback is None else f"{callback.channel} {callback.session_id}"[:CONVERSATION_CHARS]


TAG: Final = "task-notification"


def work_fields(letter: Letter, agent: AgentName, ways: Instructions) -> dict[str, str]:
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


def work_line(letter: Letter, agent: AgentName, ways: Instructions) -> str:
    """Return the fields of `work_fields` as words that follow the letter's sender and time; empty without any."""
    told = {name: one_line(value) for name, value in work_fields(letter, agent, ways).items()}
    if not told:
        return ""
    which = "".join(f", {name} {told[name]}" for name in ("session", "run") if name in told)
    return f" [{TAG}: worker {told['worker']}{which} has {told['status']}; to continue it: {told['continue']}]"


def _of_task(letter: Letter) -> WorkNote | None:
    """Return the note on finished work for a letter that reports the end of a task; otherwise None."""
    from covey.core.work.task import FINISHED  # imported late because most readers are no coordinators

    task = letter.task
    if task is None or letter.kind is not Kind.UPDATE or task.state not in FINISHED:
        return None
    return WorkNote(task.agent, task.state)


def child_fields(letter: Letter, ways: Instructions) -> dict[str, str]:
    """Return the fields for the child that sent a letter. Return none if no child sent it, or if the reader is a
    coordinator and the letter has fields for the child's work."""
    child = letter.child
    if child is None or (ways.worker and letter.work is not None):
        return {}
    told = {"label": child.label, "session": child.session, "run": child.run, "status": child.status}
    return {name: value for name, value in told.items() if value}


def child_entry(letter: Letter, ways: Instructions) -> Json:
    """Return the fields of `child_fields` as an object, or None without any."""
    return {name: one_line(value) for name, value in child_fields(letter, ways).items()} or None


def child_line(letter: Letter, ways: Instructions) -> str:
    """Return the fields of `child_fields` as words that follow the letter's sender and time; empty without any."""
    told = [f"{name} {one_line(value)}" for name, value in child_fields(letter, ways).items()]
    return f" [child: {', '.join(told)}]" if told else ""
