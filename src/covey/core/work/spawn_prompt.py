"""The prompts of a child: its task, its parent, how to report, its tools; later, the conversation so far."""

from collections.abc import Sequence
from typing import Final

from covey.core.ledger.message import FilePart, Message, TextPart, text_of
from covey.core.text.escape import enclosed, one_line
from covey.core.work.run import LauncherKind, Run, RunMode

LONGEST_HISTORY: Final = 32_000
"""The number of characters of the earlier conversation that a child is shown again."""


def first_prompt(run: Run, task: str, files: Sequence[FilePart], parent: str) -> str:
    """Return the first prompt of a child. `parent` is the address of the session or agent that asked."""
    sections = [
        f"You are a child of {run.parent_agent}, started as the agent {run.agent}{_label(run)}. Your task:",
        enclosed("task", task.strip(), from_=parent),
        _listed("Files that go with it:", [_place(run, part) for part in files]),
        _listed("How to report:", _reporting(run)),
        _listed("Good to know:", _facts(run, parent)),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def later_prompt(run: Run, message: Message, thread: Sequence[Message]) -> str:
    """Return the prompt for a later message to a child in session mode, with the conversation so far."""
    sections = [
        f"You are a child of {run.parent_agent}, started as the agent {run.agent}{_label(run)}. "
        "This is the conversation so far:",
        _history([_said(run, earlier) for earlier in thread]),
        "Now this is said to you:",
        _said(run, message),
        _listed("How to report:", _reporting(run)),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _said(run: Run, message: Message) -> str:
    """Return a message in a frame that names its sender."""
    return enclosed("message", text_of(message.parts).strip(), from_=_speaker(run, message))


def _history(said: Sequence[str]) -> str:
    """Return the latest messages that fit, each uncut."""
    kept: list[str] = []
    room = LONGEST_HISTORY
    for shown in reversed(said):
        room -= len(shown)
        if room < 0:
            kept.append("[… what was said first is left out …]")
            break
        kept.append(shown)
    return "\n\n".join(reversed(kept))


def _reporting(run: Run) -> Sequence[str]:
    what = "your result" if run.mode is RunMode.RUN else "your answer"
    if run.launcher is LauncherKind.PYTHON:
        return [f"What you return is {what}. It is sent to {run.parent_agent} at once."]
    return [
        f"What you print is {what}. It is sent to {run.parent_agent} when you end; nobody has to ask for it.",
        "A JSON object with result, data, files or error says more than a text.",
        *([f"Files that belong to it go into {run.folder}/output."] if run.folder else []),
    ]


def _facts(run: Run, parent: str) -> Sequence[str]:
    facts = [f"Your session is {run.key}, your run {run.id}. {parent} started you."]
    if run.time_limit is not None:
        facts.append(f"You have {run.time_limit:g} seconds; what you have printed by then is handed in.")
    if run.mode is RunMode.SESSION:
        facts.append("You are started again, with the conversation so far, whenever somebody says something to you.")
    if run.thread is not None:
        conversation = one_line(run.thread.session_id)
        facts.append(f"People read what you say in the conversation {conversation} of {run.thread.channel}.")
    if run.launcher is LauncherKind.COMMAND:
        facts.append(
            "The command covey acts as you: covey inbox (your mail), covey send --to AGENT TEXT, "
            "covey ask --to AGENT TEXT, covey agents (who is there). covey mcp gives you the same as tools."
        )
    return facts


def _label(run: Run) -> str:
    return f" ({one_line(run.label)})" if run.label else ""


def _place(run: Run, part: FilePart) -> str:
    return one_line(f"{run.folder}/attachments/{part.name}" if run.folder else f"{part.name} ({part.size:,} bytes)")


def _speaker(run: Run, message: Message) -> str:
    if message.marks is not None and message.marks.person is not None:
        return f"{message.marks.person} (a person, through {message.sender.agent})"
    return "you" if message.sender.session == run.session else message.sender.agent


def _listed(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"- {line}" for line in lines)]) if lines else ""


def carried(prompt: str, files: Sequence[FilePart]) -> tuple[TextPart | FilePart, ...]:
    """Return the parts of the message that carries a prompt."""
    return (TextPart(prompt), *files)
