"""The task of a letter, in renderings: its id, its state, and how to report on it."""

from datetime import UTC
from typing import Final

from covey.core.attention import Letter, Ways
from covey.core.json import Json
from covey.core.message import Kind
from covey.core.names import AgentName
from covey.core.render_escape import one_line

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


def do_note(letter: Letter, agent: AgentName, ways: Ways) -> str:
    """Return a note on how to report on the task that a letter hands over; empty without a task or without an
    instruction for it."""
    if letter.kind is not Kind.TASK:
        return ""
    return ways.task.format(agent=agent, number=letter.number, message=letter.message_id)


def conversation_of(letter: Letter) -> str:
    """Return the channel and the name of the conversation that a result belongs to; empty if there is none."""
    callback = letter.callback
    return "" if callback is None else f"{callback.channel} {callback.session_id}"[:CONVERSATION_CHARS]
