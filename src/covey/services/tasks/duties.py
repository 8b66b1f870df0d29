"""Duties: the work of the agent that a task is for. A task is taken by one session, within the quota."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from covey.core.authority import check_doer
from covey.core.directory.card import TaskOverflow
from covey.core.errors import IllegalMove, Invalid, ProgressStorm, QuotaFull, TaskTaken
from covey.core.identity import Identity
from covey.core.ledger.delivery import WAITING
from covey.core.ledger.message import Part
from covey.core.limits import TASK_ATTEMPTS
from covey.core.names import MessageId, inbox_topic, parked_inbox, session_inbox
from covey.core.work.task import DEADLINE, Task, TaskMove, TaskState, claimed, task_at
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act
from covey.services.directory.presence import SteadyLiveness, give_up, live_sessions
from covey.services.directory.settings import check_not_paused
from covey.services.mail.filing import NoticePorts
from covey.services.polling import Poller
from covey.services.records import known_agent, known_message, message_or_notice, own_session
from covey.services.storms.storms import count_progress
from covey.services.tasks.claims import is_left, release_task, take_claim
from covey.services.tasks.moves import shift_task
from covey.services.tasks.open_tasks import fit_tasks, not_allowed, open_tasks
from covey.services.tasks.tasks import TaskView, known_task

T = TypeVar("T")

Judge = Callable[[TaskView], Awaitable[str | None]]
"""An agent's own judgement of a task: the reason to decline it, or None to accept."""


class Duties:
    def __init__(self, store: Store, clock: Clock, notice_ports: NoticePorts, waiting: Poller) -> None:
        self._store = store
        self._clock = clock
        self._notice_ports = notice_ports
        self._waiting = waiting

    async def next(self, actor: Identity, timeout: float, take: Callable[[], Awaitable[T | None]]) -> T | None:
        """Wait until `take` has taken a task for the actor's session. Return None on timeout."""
        if actor.session is None:
            raise Invalid("session", None, "join the space first: only a session can take a task")
        return await self._waiting.until([inbox_topic(parked_inbox(actor.agent))], take, timeout)

    async def take(
        self, actor: Identity, *, judge: Judge | None = None, starts: bool = False, attempts: int = TASK_ATTEMPTS
    ) -> TaskView | None:
        """Take the next task into the actor's session, accepted: first tasks abandoned by ended sessions, then pending
        ones, within the quota. Tasks that the agent must not, can't or does not want to do are rejected on the way.
        Return None if there is no task to take. With `starts` the task is working at once, unless `judge` decides on it
        first."""

        async def is_there(tx: Transaction) -> bool:
            return bool(await open_tasks(tx, actor.agent, self._clock.now(), 1, attempts))

        while await self._store.read(is_there):
            taken = await self._store.commit(lambda tx: self._claim_next(tx, actor, judge is None, starts, attempts))
            if taken is None:
                return None
            if judge is None or taken.task.state is not TaskState.PENDING:
                return taken
            why_not = await judge(taken)
            if why_not is None:
                task = await self.accept(taken.task.id, actor)
                if task.is_active:
                    return taken._replace(task=task)
            else:
                await self.reject(taken.task.id, actor, why_not)
        return None

    async def ready(self, actor: Identity, timeout: float) -> bool:
        """Wait until there is a task to take, without taking it. Return False on timeout."""

        async def look() -> bool | None:
            return bool(await self._store.read(lambda tx: open_tasks(tx, actor.agent, self._clock.now(), 1))) or None

        return bool(await self._waiting.until([inbox_topic(parked_inbox(actor.agent))], look, timeout))

    async def _claim_next(
        self, tx: Transaction, actor: Identity, accepts: bool, starts: bool, attempts: int
    ) -> TaskView | None:
        act = Act(tx, actor, self._clock.now())
        await live_sessions(
            act, actor.agent, SteadyLiveness(self._notice_ports.liveness)
        )  # dead sessions give up their tasks
        session = await own_session(tx, actor)
        fit = await fit_tasks(act, actor.agent, 1, self._notice_ports, attempts)
        if not fit:
            return None
        task = fit[0]
        if accepts and task.state is TaskState.PENDING:  # one step: the acceptance says which session has the task
            task = await shift_task(act, claimed(task, session.id, act.now), TaskMove.ACCEPT, self._notice_ports)
        else:
            task = await take_claim(act, task, session.id)
        if starts and task.state is TaskState.ACCEPTED:
            task = await shift_task(act, task, TaskMove.START, self._notice_ports)
        return TaskView(task, await known_message(tx, task.id))

    async def in_hand(self, actor: Identity) -> Sequence[TaskView]:
        """Return the unfinished tasks of the actor's session. For an actor without a session, return the tasks that its
        agent claimed without one."""

        async def operation(tx: Transaction) -> Sequence[TaskView]:
            if actor.session is None:
                tasks = [task for task in await tx.tasks.held(actor.agent) if task.claimed_by is None]
            else:
                tasks = await tx.tasks.of_session(actor.session)
            now = self._clock.now()
            mine = [task for task in tasks if not is_left(task) and task_at(task, now) is task]
            return [TaskView(task, await message_or_notice(tx, task.id, task.created_at)) for task in mine]

        return await self._store.read(operation)

    async def accept(self, task_id: MessageId, actor: Identity, parts: tuple[Part, ...] = ()) -> Task:
        """Accept a task. The task is rejected instead if its sender is not allowed, the quota is exhausted or its
        deadline has passed. If the agent's card lets tasks queue, a task over the quota keeps waiting, and QuotaFull is
        raised."""

        async def operation(tx: Transaction) -> Task:
            act = Act(tx, actor, self._clock.now())
            task = await self._own(act, task_id)
            if task.state is not TaskState.PENDING:
                raise IllegalMove("task", task.state, TaskMove.ACCEPT)
            await check_not_paused(tx, task.agent)
            refused = await why_refused(act, task)
            if refused is not None:
                return await shift_task(act, task, TaskMove.REJECT, self._notice_ports, reason=refused)
            return await shift_task(act, await self._claimed(act, task), TaskMove.ACCEPT, self._notice_ports, parts)

        return await self._store.commit(operation)

    async def reject(self, task_id: MessageId, actor: Identity, reason: str, parts: tuple[Part, ...] = ()) -> Task:
        """Reject a task."""
        return await self._move(task_id, actor, TaskMove.REJECT, parts, reason)

    async def start(
        self, task_id: MessageId, actor: Identity, attempt: int | None = None, parts: tuple[Part, ...] = ()
    ) -> Task:
        """Report that the work has begun."""
        return await self._move(task_id, actor, TaskMove.START, parts, attempt=attempt)

    async def progress(
        self, task_id: MessageId, actor: Identity, parts: tuple[Part, ...], attempt: int | None = None
    ) -> Task:
        """Report progress. An earlier report that was not seen yet is superseded. Too frequent reports raise
        ProgressStorm."""

        async def operation(tx: Transaction) -> Task | ProgressStorm:
            act = Act(tx, actor, self._clock.now())
            task = task_at(await self._own(act, task_id, attempt), act.now)
            message = await known_message(tx, task_id)
            refused = None if task.is_finished else await count_progress(act, task, message, self._notice_ports)
            return refused or await shift_task(act, task, TaskMove.PROGRESS, self._notice_ports, parts)

        told = await self._store.commit(operation)
        if isinstance(told, ProgressStorm):  # raised here because the transaction's records stand
            raise told
        return told

    async def complete(
        self, task_id: MessageId, actor: Identity, parts: tuple[Part, ...], attempt: int | None = None
    ) -> Task:
        """Hand in the result."""
        return await self._move(task_id, actor, TaskMove.COMPLETE, parts, attempt=attempt)

    async def fail(
        self,
        task_id: MessageId,
        actor: Identity,
        reason: str,
        parts: tuple[Part, ...] = (),
        attempt: int | None = None,
    ) -> Task:
        """Report that the task can't be done, or that the work has failed."""
        return await self._move(task_id, actor, TaskMove.FAIL, parts, reason, attempt)

    async def let_go(self, task_id: MessageId, actor: Identity, attempt: int) -> Task:
        """Release a task of the actor's session to another session of the agent; the session itself goes on. A task
        that the session no longer has is left unchanged."""

        async def operation(tx: Transaction) -> Task:
            act = Act(tx, actor, self._clock.now())
            task = await known_task(tx.visible, task_id)
            check_doer(actor, task)
            if actor.session is None or task.claimed_by != actor.session or task.attempt != attempt:
                return task
            inbox = session_inbox(actor.session)
            for copy in await tx.deliveries.of_message(task_id):
                if copy.inbox == inbox and copy.state in WAITING:
                    await give_up(act, copy, task.agent, ())
            return await release_task(act, task, actor.session)

        return await self._store.commit(operation)

    async def _move(
        self,
        task_id: MessageId,
        actor: Identity,
        move: TaskMove,
        parts: tuple[Part, ...] = (),
        reason: str | None = None,
        attempt: int | None = None,
    ) -> Task:
        async def operation(tx: Transaction) -> Task:
            act = Act(tx, actor, self._clock.now())
            task = await self._own(act, task_id, attempt)
            # A deadline may have passed that is not recorded yet.
            return await shift_task(act, task_at(task, act.now), move, self._notice_ports, parts, reason)

        return await self._store.commit(operation)

    async def _own(self, act: Act, task_id: MessageId, attempt: int | None = None) -> Task:
        """Return a task that the actor may move: a task of its agent that is claimed by its session or by none."""
        task = await known_task(act.tx.visible, task_id)
        check_doer(act.actor, task)
        # Sending a notice ends the recipient's dead sessions. If the recipient is the task's own agent, that must
        # happen before the move.
        tells_itself = task.delegator == task.agent
        if task.claimed_by is None or task.claimed_by != act.actor.session or tells_itself:
            await live_sessions(
                act, task.agent, SteadyLiveness(self._notice_ports.liveness)
            )  # dead sessions give up tasks
            task = await known_task(act.tx, task_id)
        if attempt is not None and not task.is_finished and task.attempt != attempt:
            raise TaskTaken(task_id, f"attempt {task.attempt}, and this is attempt {attempt}")
        if task.claimed_by not in (None, act.actor.session) and not act.actor.is_operator:
            raise TaskTaken(task_id, f"session {task.claimed_by} of {task.agent}")
        return await self._claimed(act, task) if is_left(task) else task

    async def _claimed(self, act: Act, task: Task) -> Task:
        if task.claimed_by is not None and task.claimed_by == act.actor.session:
            return task
        has_session = act.actor.session is not None and act.actor.agent == task.agent
        return await take_claim(act, task, (await own_session(act.tx, act.actor)).id if has_session else None)


async def why_refused(act: Act, task: Task) -> str | None:
    """Return why the task's agent must refuse it: its sender is not allowed, the quota is exhausted, or its deadline
    has passed, in this order. Raise QuotaFull if the task may wait for the quota."""
    agent = await known_agent(act.tx, task.agent)
    if (why := await not_allowed(act.tx, agent, task)) is not None:
        return why
    held = [other for other in await act.tx.tasks.held(task.agent) if other.id != task.id]
    if len(held) >= agent.card.quota:
        if agent.card.overflow is TaskOverflow.QUEUE:
            raise QuotaFull(task.id, task.agent, agent.card.quota)
        return f"{task.agent} has {len(held)} tasks, and its quota is {agent.card.quota}"
    return DEADLINE if task_at(task, act.now) is not task else None
