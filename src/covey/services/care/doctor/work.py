"""Sessions and their work under examination: sessions whose process is gone, tasks that can't be taken or have lost
their session, and runs that have lost theirs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from covey.core.care.diagnoses import (
    EXPIRED_LEASE,
    QUOTA_EXCEEDED,
    RUN_SESSIONLESS,
    RUN_UNCLEARED,
    RUN_UNTOLD,
    TASK_CLAIM_LOST,
    TASK_OVERDUE,
    TASK_UNRECORDED,
    TASK_UNTOLD,
    TASK_WITHOUT_MESSAGE,
)
from covey.core.care.finding import Area, Examination, Finding
from covey.core.directory.session import Session
from covey.core.identity import THE_SPACE, Identity
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.event import Action
from covey.core.reporting import counted
from covey.core.times import format_instant
from covey.core.work.run import Run, RunMove
from covey.core.work.task import Task, TaskMove, task_at, task_moved
from covey.ports.care import ProgressCallback
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.ports.work import RunFilter, TaskFilter
from covey.services.act import Act, journal
from covey.services.care.doctor.journal import note
from covey.services.care.task_audit import record_task, unrecorded
from covey.services.care.upkeep import Upkeep
from covey.services.children.run_moves import lose_run, shift_run
from covey.services.directory.presence import is_live, why_dead
from covey.services.tasks.claims import release_task


class SessionsCheckup:
    area = Area.SESSIONS

    def __init__(self, store: Store, clock: Clock, liveness: Liveness, upkeep: Upkeep) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness
        self._upkeep = upkeep

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell
        live, dead = await self._store.read(self._look, is_long=True)
        if dead:
            # A session that left between the read and the check of its process has ended by the next read.
            live, still = await self._store.read(self._look, is_long=True)
            dead = [session for session in still if session in dead]
        return Examination(self.area, counted(live, "live session"), (_dead_finding(dead),) if dead else ())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            _, dead = await self._look(tx)
            if dead:
                await note(Act(tx, actor, self._clock.now()), _dead_finding(dead))

        await self._store.commit(operation, is_long=True)
        await self._upkeep.tend()

    async def _look(self, tx: Transaction) -> tuple[int, Sequence[Session]]:
        """Return the number of live sessions, and the dead sessions that have not been ended."""
        now = self._clock.now()
        current = await tx.sessions.current()
        dead = [session for session in current if not is_live(session, self._liveness, now)]
        return len(current) - len(dead), dead


def _dead_finding(dead: Sequence[Session]) -> Finding:
    what = f"{counted(len(dead), 'session')} without a process, not ended yet"
    return Finding(EXPIRED_LEASE, what, tuple(map(_session_line, dead)))


def _session_line(session: Session) -> str:
    return f"{session.key} ({why_dead(session)}; last seen {format_instant(session.seen_at)[:19]}Z)"


MOST: Final = 1_000_000
"""The number of unfinished tasks that are examined."""

MESSAGE_LOST: Final = "the message that delegated it is lost"


class TaskProblems(NamedTuple):
    """Faults of tasks."""

    unfinished: int
    """The total number of unfinished tasks."""
    messageless: Sequence[Task]
    unclaimed: Sequence[Task]
    """Tasks whose claiming session has ended or never existed."""
    overdue: Sequence[Task]
    untold: Sequence[Task]
    unrecorded: Sequence[DeliveryRecord]
    crowded: Sequence[str]
    """Agents with more tasks than their quota, in words."""

    def findings(self) -> tuple[Finding, ...]:
        tasks = len(self.messageless), len(self.unclaimed), len(self.overdue), len(self.untold)
        without, unclaimed, overdue, untold = (counted(count, "task") for count in tasks)
        found = (
            Finding(TASK_WITHOUT_MESSAGE, f"{without} without a message", _task_lines(self.messageless)),
            Finding(
                TASK_UNRECORDED,
                f"{counted(len(self.unrecorded), 'task')} without a record",
                tuple(f"{copy.message_id} for {copy.agent}" for copy in self.unrecorded),
            ),
            Finding(
                TASK_CLAIM_LOST,
                f"{unclaimed} claimed by a session that is gone",
                tuple(f"{_task_line(task)} (session {task.claimed_by})" for task in self.unclaimed),
            ),
            Finding(TASK_OVERDUE, f"{overdue} past the deadline, not failed yet", _task_lines(self.overdue)),
            Finding(TASK_UNTOLD, f"{untold} abandoned, and the delegator was not told", _task_lines(self.untold)),
            Finding(QUOTA_EXCEEDED, f"{counted(len(self.crowded), 'agent')} over the quota", tuple(self.crowded)),
        )
        return tuple(finding for finding in found if finding.items)


class TasksCheckup:
    area = Area.TASKS

    def __init__(self, store: Store, clock: Clock, upkeep: Upkeep) -> None:
        self._store = store
        self._clock = clock
        self._upkeep = upkeep

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell
        found = await self._store.read(lambda tx: _find_task_problems(tx, self._clock.now()), is_long=True)
        return Examination(self.area, counted(found.unfinished, "unfinished task"), found.findings())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        codes = {finding.code for finding in findings}

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            ailing = await _find_task_problems(tx, act.now)
            for finding in ailing.findings():
                if finding.code in codes and finding.remedy is not None:
                    await note(act, finding)
            by_time = act._replace(actor=THE_SPACE)  # the actor only found the change, which time made
            if TASK_WITHOUT_MESSAGE.code in codes:
                for task in ailing.messageless:
                    await _give_up(by_time, task)
            if TASK_UNRECORDED.code in codes:
                for copy in ailing.unrecorded:
                    await record_task(tx, copy)
            if TASK_CLAIM_LOST.code in codes:
                for task in ailing.unclaimed:
                    if task.claimed_by is not None:
                        await release_task(by_time, task, task.claimed_by)

        await self._store.commit(operation, is_long=True)
        if codes & {TASK_OVERDUE.code, TASK_UNTOLD.code, TASK_CLAIM_LOST.code}:
            await self._upkeep.tend()


async def _find_task_problems(tx: Transaction, now: datetime) -> TaskProblems:
    unfinished = await tx.tasks.find(TaskFilter(is_finished=False), MOST)
    lost = [task for task in unfinished if await tx.messages.get(task.id) is None]
    whole = [task for task in unfinished if task not in lost] if lost else unfinished
    return TaskProblems(
        unfinished=len(unfinished),
        messageless=lost,
        unclaimed=[task for task in whole if await _is_unclaimed(tx, task)],
        overdue=[task for task in whole if task_at(task, now) is not task],
        untold=[task for task in whole if task.abandoned_at is not None and not task.is_told],
        unrecorded=[delivery async for delivery in unrecorded(tx)],
        crowded=await _crowded(tx),
    )


async def _is_unclaimed(tx: Transaction, task: Task) -> bool:
    session = await tx.sessions.get(task.claimed_by) if task.claimed_by is not None else None
    return task.claimed_by is not None and (session is None or session.has_ended)


async def _crowded(tx: Transaction) -> Sequence[str]:
    found: list[str] = []
    for agent in await tx.agents.all():
        held = await tx.tasks.places(agent.name)
        if held > agent.card.quota:
            found.append(f"{agent.name} has {counted(held, 'task')}, and its quota is {agent.card.quota}")
    return found


async def _give_up(act: Act, task: Task) -> None:
    """Fail a task without a message. There is no message to answer, so that no notice is sent."""
    after = task_moved(task, TaskMove.FAIL, act.now, MESSAGE_LOST)
    await act.tx.tasks.put(after)
    await journal(
        act,
        Action.TASK_MOVED,
        message_id=task.id,
        agent=task.agent,
        scope=task.scope,
        **{"from": str(task.state), "move": str(TaskMove.FAIL), "to": str(after.state)},
        reason=MESSAGE_LOST,
        attempt=task.attempt,
        session=task.claimed_by,
    )


def _task_lines(tasks: Sequence[Task]) -> tuple[str, ...]:
    return tuple(map(_task_line, tasks))


def _task_line(task: Task) -> str:
    return f"{task.id} for {task.agent}, from {task.delegator} ({task.state})"


"""The number of runs that are examined."""

CLEARING: Final = timedelta(minutes=1)
"""The time that the supervisor of a child may take to clean up after it."""

SESSION_LOST: Final = "its session is gone"


class RunProblems(NamedTuple):
    """Faults of runs."""

    running: int
    """The total number of running children."""
    sessionless: Sequence[Run]
    untold: Sequence[Run]
    uncleared: Sequence[Run]

    def findings(self) -> tuple[Finding, ...]:
        sizes = len(self.sessionless), len(self.untold), len(self.uncleared)
        sessionless, untold, uncleared = (counted(size, "run") for size in sizes)
        found = (
            Finding(
                RUN_SESSIONLESS,
                f"{sessionless} without a session, still marked as running",
                _run_lines(self.sessionless),
            ),
            Finding(RUN_UNTOLD, f"{untold} lost, and the parent was not told", _run_lines(self.untold)),
            Finding(
                RUN_UNCLEARED,
                f"{uncleared} ended, and the folder still exists",
                tuple(f"{run.folder} of {_run_line(run)}" for run in self.uncleared),
            ),
        )
        return tuple(finding for finding in found if finding.items)


class RunsCheckup:
    area = Area.RUNS

    def __init__(self, store: Store, clock: Clock, upkeep: Upkeep) -> None:
        self._store = store
        self._clock = clock
        self._upkeep = upkeep

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell
        found = await self._store.read(lambda tx: _find_run_problems(tx, self._clock.now()), is_long=True)
        return Examination(self.area, counted(found.running, "running child", "running children"), found.findings())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        codes = {finding.code for finding in findings}

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            ailing = await _find_run_problems(tx, act.now)
            for finding in ailing.findings():
                if finding.code in codes and finding.remedy is not None:
                    await note(act, finding)
            if RUN_SESSIONLESS.code in codes:
                for run in ailing.sessionless:
                    await _lose_run(act._replace(actor=THE_SPACE), run)

        await self._store.commit(operation, is_long=True)
        await self._upkeep.tend()


async def _find_run_problems(tx: Transaction, now: datetime) -> RunProblems:
    running = await tx.runs.find(RunFilter(has_ended=False), MOST)
    left = await tx.runs.uncleared(MOST)
    return RunProblems(
        running=len(running),
        sessionless=[run for run in running if await _is_sessionless(tx, run)],
        untold=await tx.runs.untold(MOST),
        uncleared=[run for run in left if run.ended_at is not None and run.ended_at + CLEARING <= now],
    )


async def _is_sessionless(tx: Transaction, run: Run) -> bool:
    """Tell whether a run goes on without a session. A run whose process is gone and whose session has not ended yet is
    a finding of the sessions' checkup."""
    session = await tx.sessions.get(run.session)
    return session is None or session.has_ended


async def _lose_run(act: Act, run: Run) -> None:
    session = await act.tx.sessions.get(run.session)
    if session is None:
        await shift_run(act, run._replace(is_told=False), RunMove.LOSE, SESSION_LOST)
    else:
        await lose_run(act, session, session.end_reason or SESSION_LOST)


def _run_lines(runs: Sequence[Run]) -> tuple[str, ...]:
    return tuple(map(_run_line, runs))


def _run_line(run: Run) -> str:
    return f"{run.id}, a child of {run.agent} for {run.parent_agent} ({run.state})"
