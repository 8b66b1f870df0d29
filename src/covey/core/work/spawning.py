"""Spawning of children: its rules (depth, number, allow lists, valid options), the prompts of a child, and the
instructions for coordinators and workers."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.core.directory.card import Card
from covey.core.directory.routing import allows
from covey.core.errors import Invalid, SpawnDepth, SpawnLimit, SpawnNotAllowed
from covey.core.identity import SessionKey
from covey.core.ledger.message import Callback, FilePart, Message, TextPart, text_of
from covey.core.names import AgentName
from covey.core.text.escape import enclosed, one_line
from covey.core.work.run import LauncherKind, Run, RunMode

MAX_TIME_LIMIT: Final = 7 * 24 * 3600.0
"""The longest time limit of a child in seconds: a week."""


class SpawnParent(NamedTuple):
    """The parent of a new child."""

    agent: AgentName
    key: SessionKey | None
    """The key of the parent's session; None for a parent without one."""
    card: Card
    is_operator: bool = False
    """True for the operator, to whom no limit applies."""


def check_spawn(parent: SpawnParent, child: AgentName, card: Card, alive: int) -> None:
    """Raise SpawnDepth, SpawnLimit or SpawnNotAllowed if a parent may not start this child. `alive` is the number of
    children over all sessions of the parent's agent, so that further sessions do not raise the limit.

    The allow lists always permit a child of the parent's own agent. A child of another agent gets mail from its parent,
    so the rules for mail apply too.
    """
    depth = 1 if parent.key is None else parent.key.depth + 1
    if parent.is_operator:
        return
    if depth > parent.card.max_depth:
        raise SpawnDepth(parent.agent, depth, parent.card.max_depth)
    if alive >= parent.card.max_children:
        raise SpawnLimit(parent.agent, alive, parent.card.max_children)
    if child == parent.agent:
        return
    for allowed, asked, rule, owner in (
        (parent.card.allow_spawn, child, "allow_spawn", parent.agent),
        (parent.card.allowed_delegates, child, "allowed_delegates", parent.agent),
        (card.allow_from, parent.agent, "allow_from", child),
    ):
        if not allows(allowed, asked):
            raise SpawnNotAllowed(parent.agent, child, allowed, rule, owner)


def check_mode(mode: RunMode, thread: bool | Callback) -> None:
    """Raise Invalid if mode and thread do not fit: a child that stays needs a conversation with people, and a one-shot
    child has none."""
    if mode is RunMode.SESSION and thread is False:
        raise Invalid(
            "thread", None, "mode session needs thread=true: later messages reach the child through a conversation"
        )
    if mode is RunMode.RUN and thread is not False:
        raise Invalid("thread", True, "a child in mode run is not seen by people; use mode session")


def check_time_limit(seconds: float | None) -> None:
    """Raise Invalid if a time limit is out of range."""
    if seconds is not None and not 0 < seconds <= MAX_TIME_LIMIT:
        raise Invalid("runTimeoutSeconds", seconds, f"use more than 0 and at most {MAX_TIME_LIMIT:,.0f} seconds")


def check_startable(agent: AgentName, card: Card, launcher: LauncherKind) -> None:
    """Raise Invalid if a child of an agent can't be started: the agent is a channel, or its card has no command."""
    if card.channel:
        raise Invalid("agent", agent, "it is a channel to people, and no program runs there")
    if launcher is LauncherKind.COMMAND and not card.command:
        raise Invalid("command", None, f"the card of {agent} has no command to start a child")


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
        "The new message to you:",
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
            kept.append("[… the first messages are left out …]")
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
        facts.append("You are started again, with the conversation so far, whenever you get a message.")
    if run.thread is not None:
        conversation = one_line(run.thread.session_id)
        facts.append(f"People read what you say in the conversation {conversation} of {run.thread.channel}.")
    if run.launcher is LauncherKind.COMMAND:
        facts.append(
            "The command covey acts as you: covey inbox (your mail), covey send AGENT TEXT, "
            "covey ask AGENT TEXT, covey agents (who is there). covey mcp gives you the same as tools."
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


class SpawnChoice(NamedTuple):
    """One line of the matrix: a situation, and the choice to continue a worker or to start another one."""

    situation: str
    action: str
    why: str


CONTINUE: Final = "continue"
SPAWN: Final = "spawn"

CONTINUE_OR_SPAWN: Final = (
    SpawnChoice("the next step needs what a worker has just read or found out", CONTINUE, "it has that in its context"),
    SpawnChoice("a worker's result has to be corrected or completed", CONTINUE, "it knows what it did, and why"),
    SpawnChoice("a worker failed, and you know what was missing", CONTINUE, "tell it what, and it can go on"),
    SpawnChoice("a worker's result has to be checked", SPAWN, "its author overlooks the same things again"),
    SpawnChoice("the work is about something else", SPAWN, "the worker's earlier context would only distract it"),
    SpawnChoice("several pieces don't depend on each other", SPAWN, "they are done at the same time, one worker each"),
    SpawnChoice("a worker went the wrong way from the start", SPAWN, "it would keep to its first idea"),
    SpawnChoice(
        "the worker has ended and does not stay", SPAWN, "it can't be continued: tell a new one all it needs to know"
    ),
)


def matrix() -> str:
    """Return the choices between continuing a worker and starting one, as a table."""
    rows = [f"| {choice.situation} | {choice.action} | {choice.why} |" for choice in CONTINUE_OR_SPAWN]
    return "\n".join(["| where | do | because |", "|---|---|---|", *rows])


COORDINATOR: Final = f"""\
You coordinate: you divide work, hand it to workers, and put together what they bring. Workers see nothing of this \
conversation: what you tell one must say all that it needs, with paths, names and what the result should look like. \
Don't hand on a finding that you did not understand: read it, decide, and say exactly what is to be done.
SpawnWorker starts a worker; SendMessageToWorker continues one that is there. Neither waits: go on with what you can \
do, or end your turn. What a worker has finished comes by itself, as a <task-notification>; it is from the worker, not \
from the person you work for. Don't ask workers how far they are, and never make up a result that has not come.
Continue a worker, or start one:
{matrix()}"""

WORKER: Final = """\
You are a worker: a coordinator gave you a piece of work, and sees nothing of you but what you report. Do what was \
asked, and no more; what you notice besides, mention in one line. Don't ask whether to go on: where something is open, \
decide, and say what you assumed. Ask the coordinator only where you can't go on at all.
Report once, at the end: what you did, where (paths, names), how you checked it, and what is still open. If you \
failed, say so first, and what you tried. You may be continued later with more to do: build on what you know then."""
