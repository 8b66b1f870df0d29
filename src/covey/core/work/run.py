"""The run: one started child, from its spawn to its end, and the table of its moves."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, NewType

from covey.core.errors import IllegalMove, Invalid
from covey.core.identity import SessionKey
from covey.core.ledger.message import Callback, Message
from covey.core.names import AgentName, Label, MessageId, SessionId, TicketId, Topic, is_uuid_like, ticket_id

RunId = NewType("RunId", str)
"""A uuid."""


class RunMode(StrEnum):
    RUN = "run"
    """One-shot: the child does its task and ends. Only its parent sees it."""
    SESSION = "session"
    """The child stays and takes further work until it is stopped. People see it in a conversation."""


class Stage(StrEnum):
    """The ten stages of a spawn, in their order."""

    PERMISSION = "permission"
    SESSION = "session"
    THREAD = "thread"
    ATTACHMENTS = "attachments"
    PROMPT = "prompt"
    WORKSPACE = "workspace"
    LAUNCH = "launch"
    REGISTRATION = "registration"
    HOOKS = "hooks"
    RETURN = "return"


STAGES: Final = tuple(Stage)


class LauncherKind(StrEnum):
    COMMAND = "command"
    """A program, from the command on its agent's card."""
    PYTHON = "python"
    """An async callable of the process that spawned it."""


class RunState(StrEnum):
    """The state of a child's run."""

    STARTING = "starting"
    """The child has a session, but its program is not started, or its start is not recorded yet."""
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    """The child's program failed, or could not be started; the reason says which."""
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    LOST = "lost"
    """The process that supervised the child is gone, or the child's session was ended. No process of the child runs any
    more."""


class RunMove(StrEnum):
    REGISTER = "register"
    COMPLETE = "complete"
    FAIL = "fail"
    TIME_OUT = "time_out"
    STOP = "stop"
    LOSE = "lose"


_S = RunState
_M = RunMove
_OVER: Final[Mapping[RunMove, RunState]] = {
    _M.FAIL: _S.FAILED,
    _M.TIME_OUT: _S.TIMED_OUT,
    _M.STOP: _S.STOPPED,
    _M.LOSE: _S.LOST,
}

RUN_MOVES: Final[Mapping[RunState, Mapping[RunMove, RunState]]] = {
    _S.STARTING: {_M.REGISTER: _S.RUNNING, **_OVER},
    _S.RUNNING: {_M.COMPLETE: _S.COMPLETED, **_OVER},
    _S.COMPLETED: {},
    _S.FAILED: {},
    _S.TIMED_OUT: {},
    _S.STOPPED: {},
    _S.LOST: {},
}

ENDED: Final = frozenset(state for state, moves in RUN_MOVES.items() if not moves)

ENDING_MOVE: Final[Mapping[RunState, RunMove]] = {
    state: move for move, state in ((_M.COMPLETE, _S.COMPLETED), *_OVER.items())
}
"""The move that leads to each final state."""


class Run(NamedTuple):
    id: RunId
    session: SessionId
    """The child's session. It ends with the run, in one commit."""
    key: SessionKey
    agent: AgentName
    parent_agent: AgentName
    """The agent that spawned the child."""
    request: MessageId
    """The message with the child's first prompt. Its answer is the run's result. Before the stage PROMPT, the message
    does not exist yet."""
    mode: RunMode
    launcher: LauncherKind
    state: RunState
    started_at: datetime
    parent: SessionId | None = None
    """The session that spawned the child; None if the spawner, such as the operator, had none."""
    sibling_of: SessionId | None = None
    """The child that asked for this one as a sibling, or None."""
    label: Label | None = None
    description: str = ""
    time_limit: float | None = None
    """The time limit in seconds for the whole run; in session mode, for each answer."""
    thread: Callback | None = None
    """The conversation that the child is bound to."""
    folder: str | None = None
    """The child's folder with its attachments, as long as the folder exists."""
    stage: Stage = Stage.SESSION
    """The last finished stage of the spawn."""
    stop_reason: str | None = None
    """The reason of a requested stop. The supervisor of the child carries it out."""
    reason: str | None = None
    """The reason of the end."""
    ended_at: datetime | None = None
    is_told: bool = True
    """False if the run has ended and its parent must still be told."""

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def is_done_with(self) -> bool:
        """True if the run needs no more work: it has ended, its parent was told, and its folder is gone."""
        return self.has_ended and self.is_told and self.folder is None

    @property
    def ticket(self) -> TicketId:
        """The ticket that the run's result answers."""
        return ticket_id(self.request, self.agent)


def run_moved(run: Run, move: RunMove, at: datetime, reason: str | None = None) -> Run:
    """Return the run after `move`. Raise IllegalMove for a move that is not in the table."""
    state = RUN_MOVES[run.state].get(move)
    if state is None:
        raise IllegalMove("run", run.state, move)
    after = run._replace(state=state)
    return after._replace(ended_at=at, reason=reason) if after.has_ended else after


def parse_run_id(text: object) -> RunId:
    """Parse the id of a run."""
    if not isinstance(text, str) or not is_uuid_like(text):
        raise Invalid("run id", text, "use a uuid")
    return RunId(text.lower())


def run_topic(run_id: RunId) -> Topic:
    """Return the topic that rings when the run moves, or when its stop is requested."""
    return Topic(f"run:{run_id}")


def status_of(answer: Message) -> RunState:
    """Return the final state of the work that an answer reports. An answer of the child itself has no status mark, and
    means COMPLETED."""
    status = None if answer.marks is None else answer.marks.status
    return RunState(status) if status in set(RunState) else RunState.COMPLETED
