"""What a rendering says of tasks: which one a letter is about, how far it is, and how to say what becomes of it."""

from datetime import UTC
from typing import Final

from covey.core.attention import Letter, Ways
from covey.core.json import Json
from covey.core.message import Kind
from covey.core.names import AgentName
from covey.core.render_escape import one_line

CONVERSATION_CHARS: Final = 160
"""So much of a conversation's name is shown."""


def task_fields(letter: Letter) -> dict[str, str]:
    """Return what is told of a letter's task, by name; nothing where it is about none."""
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
    """Return the same as an object; None where there is none."""
    return {name: one_line(value) for name, value in task_fields(letter).items()} or None


def task_line(letter: Letter) -> str:
    """Return the same as words that go on after who sent the letter and when; empty where there is none."""
    told = {name: one_line(value) for name, value in task_fields(letter).items()}
    if not told:
        return ""
    if letter.kind is not Kind.TASK:
        return f": task {told['id']} of {told['agent']} is {told['state']}"
    due = f", due {told['deadline']}" if "deadline" in told else ""
    again = f", attempt {told['attempt']}: an earlier session left it" if "attempt" in told else ""
    return f", {told['state']}{due}{again} (id {told['id']})"


def do_note(letter: Letter, agent: AgentName, ways: Ways) -> str:
    """Say how the reader of a letter that hands a task over tells what becomes of it; empty where it hands over none,
    or there is no way."""
    if letter.kind is not Kind.TASK:
        return ""
    return ways.task.format(agent=agent, number=letter.number, message=letter.message_id)


def conversation_of(letter: Letter) -> str:
    """Return the conversation that a result belongs to: its channel and its name there; empty where there is none."""
    callback = letter.callback
    return "" if callback is None else f"{callback.channel} {callback.session_id}"[:CONVERSATION_CHARS]
