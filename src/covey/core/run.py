"""The run: one started child, from its spawn to its end, and the table of its moves."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, NewType

from covey.core.errors import IllegalMove, Invalid
from covey.core.ids import MessageId, SessionId, TicketId, Topic, ticket_id
from covey.core.message import Callback, Message
from covey.core.names import AgentName, Label, is_uuid_like
from covey.core.session_key import SessionKey

RunId = NewType("RunId", str)
"""A uuid."""


class RunMode(StrEnum):
    RUN = "run"
    """One-shot: it does its task and is gone; nobody but its parent sees it."""
    SESSION = "session"
    """It stays, and does what it is told, until it is stopped; people see it in a conversation."""


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
    STARTING = "starting"
    """Its session is there; its program is not, or nobody has written down that it is."""
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    """Its program failed, or could not be started: the reason says so."""
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    LOST = "lost"
    """The process that watched over it is gone, or its session was ended under it. Nothing of it runs any more."""


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
"""The move that leads to an end."""


class Run(NamedTuple):
    id: RunId
    session: SessionId
    """The child's session. It lives as long as the run: they end in one commit."""
    key: SessionKey
    agent: AgentName
    parent_agent: AgentName
    """Who spawned it."""
    request: MessageId
    """The message that carries its first prompt. Its answer is the run's result. There is none before its stage."""
    mode: RunMode
    launcher: LauncherKind
    state: RunState
    started_at: datetime
    parent: SessionId | None = None
    """The session of who spawned it; None where that had none, as the operator."""
    sibling_of: SessionId | None = None
    """The child that wanted it, where that is not its parent."""
    label: Label | None = None
    description: str = ""
    time_limit: float | None = None
    """How many seconds it may take; in session mode, how many each of its answers may."""
    thread: Callback | None = None
    """The conversation that it is bound to."""
    folder: str | None = None
    """Its folder, with its attachments, as long as it is there."""
    stage: Stage = Stage.SESSION
    """The last stage of its spawn that is finished."""
    stop_reason: str | None = None
    """Why somebody wants it to stop; who watches over it does it."""
    reason: str | None = None
    """Why it has ended."""
    ended_at: datetime | None = None
    is_told: bool = True
    """Whether its parent knows how it has ended."""

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def is_done_with(self) -> bool:
        """Whether nothing is left to do about it: it has ended, its parent knows, and its folder is gone."""
        return self.has_ended and self.is_told and self.folder is None

    @property
    def ticket(self) -> TicketId:
        """The debt that its result answers."""
        return ticket_id(self.request, self.agent)


def run_moved(run: Run, move: RunMove, at: datetime, reason: str | None = None) -> Run:
    """Return the run after `move`; a move that the table does not have is IllegalMove."""
    state = RUN_MOVES[run.state].get(move)
    if state is None:
        raise IllegalMove("run", run.state, move)
    after = run._replace(state=state)
    return after._replace(ended_at=at, reason=reason) if after.has_ended else after


def parse_run_id(text: object) -> RunId:
    """Return `text` as the id of a run."""
    if not isinstance(text, str) or not is_uuid_like(text):
        raise Invalid("run id", text, "use a uuid")
    return RunId(text.lower())


def run_topic(run_id: RunId) -> Topic:
    """Return what rings when the run moves, or is to stop."""
    return Topic(f"run:{run_id}")


def status_of(answer: Message) -> RunState:
    """Return how the errand ended that a child answers. An answer that the child gave itself has no such mark, and says
    that it is completed."""
    status = None if answer.marks is None else answer.marks.status
    return RunState(status) if status in set(RunState) else RunState.COMPLETED
