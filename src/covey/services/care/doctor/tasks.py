"""Tasks under examination: tasks that can't be taken, that have lost their session, or that were not reported."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.care.diagnoses import (
    QUOTA_EXCEEDED,
    TASK_CLAIM_LOST,
    TASK_OVERDUE,
    TASK_UNRECORDED,
    TASK_UNTOLD,
    TASK_WITHOUT_MESSAGE,
)
from covey.core.care.finding import Area, Examination, Finding
from covey.core.identity import THE_SPACE, Identity
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.event import Action
from covey.core.text.wording import counted
from covey.core.work.task import Task, TaskMove, task_at, task_moved
from covey.ports.checkup import Tell
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.ports.work import TaskFilter
from covey.services.act import Act, journal
from covey.services.care.doctor.note import note
from covey.services.care.upkeep import Upkeep
from covey.services.tasks.claims import release_task
from covey.services.tasks.records import record_task, unrecorded

MOST: Final = 1_000_000
"""The number of unfinished tasks that are examined."""

LOST: Final = "the message that handed it over is lost"


class Ailing(NamedTuple):
    """Faults of tasks."""

    unfinished: int
    """The total number of unfinished tasks."""
    messageless: Sequence[Task]
    unclaimed: Sequence[Task]
    """Tasks whose claiming session has ended or never existed."""
    overdue: Sequence[Task]
    untold: Sequence[Task]
    unrecorded: Sequence[Delivery]
    crowded: Sequence[str]
    """Agents with more tasks than their quota, in words."""

    def findings(self) -> tuple[Finding, ...]:
        tasks = len(self.messageless), len(self.unclaimed), len(self.overdue), len(self.untold)
        without, unclaimed, overdue, untold = (counted(count, "task") for count in tasks)
        found = (
            Finding(TASK_WITHOUT_MESSAGE, f"{without} without a message", _lines(self.messageless)),
            Finding(
                TASK_UNRECORDED,
                f"{counted(len(self.unrecorded), 'task')} without a record",
                tuple(f"{copy.message_id} for {copy.agent}" for copy in self.unrecorded),
            ),
            Finding(
                TASK_CLAIM_LOST,
                f"{unclaimed} with a session that is no more",
                tuple(f"{_line(task)} (session {task.claimed_by})" for task in self.unclaimed),
            ),
            Finding(TASK_OVERDUE, f"{overdue} past the deadline, not failed yet", _lines(self.overdue)),
            Finding(TASK_UNTOLD, f"{untold} abandoned, and nobody was told", _lines(self.untold)),
            Finding(QUOTA_EXCEEDED, f"{counted(len(self.crowded), 'agent')} over the quota", tuple(self.crowded)),
        )
        return tuple(finding for finding in found if finding.items)


class TasksCheckup:
    area = Area.TASKS

    def __init__(self, store: Store, clock: Clock, upkeep: Upkeep) -> None:
        self._store = store
        self._clock = clock
        self._upkeep = upkeep

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        del thorough, tell
        found = await self._store.read(lambda tx: _look(tx, self._clock.now()), is_long=True)
        return Examination(self.area, counted(found.unfinished, "unfinished task"), found.findings())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        codes = {finding.code for finding in findings}

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            ailing = await _look(tx, act.now)
            for finding in ailing.findings():
                if finding.code in codes and finding.remedy is not None:
                    await note(act, finding)
            by_time = act._replace(actor=THE_SPACE)  # the actor only found it: time did this
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


async def _look(tx: Transaction, now: datetime) -> Ailing:
    unfinished = await tx.tasks.find(TaskFilter(is_finished=False), MOST)
    lost = [task for task in unfinished if await tx.messages.get(task.id) is None]
    whole = [task for task in unfinished if task not in lost] if lost else unfinished
    return Ailing(
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
    after = task_moved(task, TaskMove.FAIL, act.now, LOST)
    await act.tx.tasks.put(after)
    await journal(
        act,
        Action.TASK_MOVED,
        message_id=task.id,
        agent=task.agent,
        scope=task.scope,
        **{"from": str(task.state), "move": str(TaskMove.FAIL), "to": str(after.state)},
        reason=LOST,
        attempt=task.attempt,
        session=task.claimed_by,
    )


def _lines(tasks: Sequence[Task]) -> tuple[str, ...]:
    return tuple(map(_line, tasks))


def _line(task: Task) -> str:
    return f"{task.id} for {task.agent}, from {task.delegator} ({task.state})"
