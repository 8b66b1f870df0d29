"""Rules for starting a child: depth, number, allow lists, and valid combinations of options."""

from typing import Final, NamedTuple

from covey.core.address import SessionKey
from covey.core.directory.card import Card
from covey.core.directory.routing import allows
from covey.core.errors import Invalid, SpawnDepth, SpawnLimit, SpawnNotAllowed
from covey.core.ledger.message import Callback
from covey.core.names import AgentName
from covey.core.work.run import LauncherKind, RunMode

MAX_TIME_LIMIT: Final = 7 * 24 * 3600.0
"""The longest time limit of a child in seconds: a week."""


class Parent(NamedTuple):
    """The parent of a new child."""

    agent: AgentName
    key: SessionKey | None
    """The key of the parent's session; None for a parent without one."""
    card: Card
    is_operator: bool = False
    """True for the operator, to whom no limit applies."""


def check_spawn(parent: Parent, child: AgentName, card: Card, alive: int) -> None:
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
        raise Invalid("command", None, f"the card of {agent} has no command that starts one")
