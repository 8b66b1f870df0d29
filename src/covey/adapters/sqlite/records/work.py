"""Tasks, runs and waits in SQLite."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

import covey.ports as ports
from covey.adapters.sqlite.engine.access import Access, statements
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.records.rows import record_of, to_instant, to_instant_or_none, to_text, to_text_or_null
from covey.core.identity import parse_session_key
from covey.core.ledger.message import Callback
from covey.core.ledger.waits import Awaited, Wait
from covey.core.names import AgentName, MessageId, SessionId
from covey.core.work.run import LauncherKind, Run, RunId, RunMode, RunState, Stage
from covey.core.work.task import Task, TaskState

_TASKS = statements("tasks")


class SqliteTasks:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, task_id: MessageId) -> Task | None:
        row = self._access.read(_TASKS["get"], (task_id,)).fetchone()
        return None if row is None else decode_task(row)

    async def put(self, task: Task) -> None:
        self._access.write(_TASKS["put"], _encode_task(task))

    async def pending(self, agent: AgentName, limit: int) -> Sequence[Task]:
        return self._list("pending", agent, limit)

    async def held(self, agent: AgentName) -> Sequence[Task]:
        return self._list("held", agent)

    async def places(self, agent: AgentName) -> int:
        return int(self._access.read(_TASKS["places"], (agent,)).get)

    async def left(self, agent: AgentName, limit: int) -> Sequence[Task]:
        return self._list("left", agent, limit)

    async def all_held(self) -> Sequence[Task]:
        return self._list("all_held")

    async def of_session(self, session_id: SessionId) -> Sequence[Task]:
        return self._list("of_session", session_id)

    async def due(self, now: datetime, limit: int) -> Sequence[Task]:
        return self._list("due", to_text(now), limit)

    async def untold(self, limit: int) -> Sequence[Task]:
        return self._list("untold", limit)

    async def children(self, task_id: MessageId) -> Sequence[Task]:
        return self._list("children", task_id)

    async def find(self, wanted: "ports.TaskFilter", limit: int) -> Sequence[Task]:
        newest_first = [*islice((task for task in self._newest(wanted) if wanted.fits(task)), limit)]
        newest_first.reverse()
        return newest_first

    def _newest(self, wanted: "ports.TaskFilter") -> Iterable[Task]:
        """Yield tasks, the newest first, from the most selective index."""
        if wanted.is_finished is False:
            return self._rows("newest_open")
        if wanted.agent is not None:
            return self._rows("newest_of_agent", wanted.agent)
        if wanted.delegator is not None:
            return self._rows("newest_of_delegator", wanted.delegator)
        return self._rows("newest")

    def _list(self, name: str, *values: str | int) -> Sequence[Task]:
        return [*self._rows(name, *values)]

    def _rows(self, name: str, *values: str | int) -> Iterable[Task]:
        return (decode_task(row) for row in self._access.read(_TASKS[name], values))


def _encode_task(task: Task) -> Row:
    return (
        task.id,
        task.delegator,
        task.agent,
        task.state,
        to_text(task.created_at),
        to_text(task.updated_at),
        task.delegator_session,
        task.parent,
        task.scope,
        to_text_or_null(task.deadline),
        task.claimed_by,
        task.attempt,
        to_text_or_null(task.abandoned_at),
        task.is_told,
        task.reason,
        task.progress,
        task.result,
        to_text_or_null(task.finished_at),
    )


@record_of("tasks")
def decode_task(row: Row) -> Task:
    """Return the task of a row."""
    (
        task_id,
        delegator,
        agent,
        state,
        created_at,
        updated_at,
        delegator_session,
        parent,
        scope,
        deadline,
        claimed_by,
        attempt,
        abandoned_at,
        is_told,
        reason,
        progress,
        result,
        finished_at,
    ) = row
    return Task(
        task_id,
        delegator,
        agent,
        TaskState(state),
        to_instant(created_at),
        to_instant(updated_at),
        delegator_session,
        parent,
        scope,
        to_instant_or_none(deadline),
        claimed_by,
        attempt,
        to_instant_or_none(abandoned_at),
        bool(is_told),
        reason,
        progress,
        result,
        to_instant_or_none(finished_at),
    )


_RUNS = statements("runs")


class SqliteRuns:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, run_id: RunId) -> Run | None:
        return self._one("get", run_id)

    async def put(self, run: Run) -> None:
        self._access.write(_RUNS["put"], _encode_run(run))

    async def of_session(self, session_id: SessionId) -> Run | None:
        return self._one("of_session", session_id)

    async def children(self, session_id: SessionId) -> Sequence[Run]:
        return [*self._rows("children", session_id)]

    async def alive(self, parent_agent: AgentName) -> int:
        return int(self._access.read(_RUNS["alive"], (parent_agent,)).get)

    async def untold(self, limit: int) -> Sequence[Run]:
        return [*self._rows("untold", limit)]

    async def uncleared(self, limit: int) -> Sequence[Run]:
        return [*self._rows("uncleared", limit)]

    async def find(self, wanted: "ports.RunFilter", limit: int) -> Sequence[Run]:
        newest_first = [*islice((run for run in self._newest(wanted) if wanted.fits(run)), limit)]
        newest_first.reverse()
        return newest_first

    def _newest(self, wanted: "ports.RunFilter") -> Iterable[Run]:
        """Yield runs, the newest first, from the most selective index."""
        if wanted.has_ended is False:
            return self._rows("newest_open")
        if wanted.agent is not None:
            return self._rows("newest_of_agent", wanted.agent)
        if wanted.parent_agent is not None:
            return self._rows("newest_of_parent_agent", wanted.parent_agent)
        return self._rows("newest")

    def _one(self, name: str, value: str) -> Run | None:
        return next(iter(self._rows(name, value)), None)

    def _rows(self, name: str, *values: str | int) -> Iterable[Run]:
        return (decode_run(row) for row in self._access.read(_RUNS[name], values))


def _encode_run(run: Run) -> Row:
    return (
        run.id,
        run.session,
        str(run.key),
        run.agent,
        run.parent_agent,
        run.request,
        run.mode,
        run.launcher,
        run.state,
        to_text(run.started_at),
        run.parent,
        run.sibling_of,
        run.label,
        run.description,
        run.time_limit,
        None if run.thread is None else run.thread.channel,
        None if run.thread is None else run.thread.session_id,
        run.folder,
        run.stage,
        run.stop_reason,
        run.reason,
        to_text_or_null(run.ended_at),
        run.is_told,
    )


@record_of("runs")
def decode_run(row: Row) -> Run:
    """Return the run of a row."""
    (
        run_id,
        session,
        key,
        agent,
        parent_agent,
        request,
        mode,
        launcher,
        state,
        started_at,
        parent,
        sibling_of,
        label,
        description,
        time_limit,
        channel,
        conversation,
        folder,
        stage,
        stop_reason,
        reason,
        ended_at,
        is_told,
    ) = row
    return Run(
        run_id,
        session,
        parse_session_key(key),
        agent,
        parent_agent,
        request,
        RunMode(mode),
        LauncherKind(launcher),
        RunState(state),
        to_instant(started_at),
        parent,
        sibling_of,
        label,
        description,
        time_limit,
        None if channel is None else Callback(channel, conversation),
        folder,
        Stage(stage),
        stop_reason,
        reason,
        to_instant_or_none(ended_at),
        bool(is_told),
    )


_WAITS = statements("waits")


class SqliteWaits:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def put(self, wait: Wait) -> None:
        since, until = to_text(wait.since), to_text(wait.until)
        row = (wait.asker, wait.what, wait.session, since, until, wait.blocks, wait.takes_questions)
        self._access.write(_WAITS["put"], row)

    async def remove(self, asker: AgentName, what: Awaited) -> None:
        self._access.write(_WAITS["remove"], (asker, what))

    async def of(self, asker: AgentName) -> Sequence[Wait]:
        return [_decode_wait(row) for row in self._access.read(_WAITS["of"], (asker,))]

    async def all(self) -> Sequence[Wait]:
        return [_decode_wait(row) for row in self._access.read(_WAITS["all"])]


@record_of("waits")
def _decode_wait(row: Row) -> Wait:
    asker, what, session, since, until, blocks, takes_questions = row
    return Wait(asker, what, session, to_instant(since), to_instant(until), blocks == 1, takes_questions == 1)
