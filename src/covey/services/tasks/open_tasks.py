"""Open tasks: the start of a task with its message, the tasks that an agent can take now, within its quota, and those
that must not be taken any more."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.directory.card import Agent, TaskOverflow
from covey.core.directory.routing import Recipient, Refusal, RefusalCode, allows
from covey.core.identity import THE_SPACE
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState, state_at
from covey.core.ledger.message import Message
from covey.core.limits import TASK_ATTEMPTS
from covey.core.names import AgentName, MessageId
from covey.core.work.task import DEADLINE, Task, TaskMove, TaskState, task_at
from covey.ports.store import Transaction
from covey.services.act import Act
from covey.services.directory.settings import is_paused
from covey.services.mail.filing import NoticePorts
from covey.services.records import known_message
from covey.services.tasks.claims import is_left
from covey.services.tasks.moves import shift_task


async def taken_places(tx: Transaction, agent: AgentName, quota: int, now: datetime) -> int:
    """Return the number of taken places of an agent's quota. The tasks themselves are read only at the limit."""
    count = await tx.tasks.places(agent)
    if count < quota:
        return count
    return sum(1 for task in await tx.tasks.held(agent) if not _is_over(task, now))


async def waiting_tasks(tx: Transaction, agent: AgentName, enough: int, now: datetime) -> int:
    """Return the number of tasks that wait for an agent, counting at most `enough`."""
    limit = enough
    while True:
        page = await tx.tasks.pending(agent, limit)
        count = sum(1 for task in page if not _is_over(task, now))
        if count >= enough or len(page) < limit:
            return min(count, enough)
        limit *= 2


def _is_over(task: Task, now: datetime) -> bool:
    return task_at(task, now).is_finished


class UnfitTask(NamedTuple):
    """A waiting task that must not be done any more, with the move that ends it."""

    task: Task
    move: TaskMove
    reason: str


class OpenTasks(NamedTuple):
    fit: Sequence[Task]
    """First the tasks abandoned by ended sessions, then the pending ones, each in order."""
    unfit: Sequence[UnfitTask]

    def __bool__(self) -> bool:
        return bool(self.fit or self.unfit)


NO_TASKS: Final = OpenTasks((), ())


async def open_tasks(
    tx: Transaction,
    agent: AgentName,
    now: datetime,
    limit: int,
    attempts: int = TASK_ATTEMPTS,
    *,
    is_to_show: bool = False,
) -> OpenTasks:
    """Return the first `limit` tasks that a session of the agent can take. Nothing is changed. A paused agent can take
    none. With `is_to_show`, only tasks whose message waits to be shown are returned: it may have been archived."""
    known = await tx.agents.get(agent)
    if known is None or await is_paused(tx, agent):
        return NO_TASKS
    found = _TaskSorter(tx, known, now, attempts, is_to_show)
    for task in await tx.tasks.left(agent, known.card.quota):
        if len(found.fit) < limit:
            await found.add(task)
    free = known.card.quota - await taken_places(tx, agent, known.card.quota, now)
    wanted = min(limit, len(found.fit) + free)
    looked = 0
    while len(found.fit) < wanted:
        page = await tx.tasks.pending(agent, 2 * looked + wanted - len(found.fit))
        for task in page[looked:]:
            if len(found.fit) < wanted:
                await found.add(task)
        if len(page) <= looked:
            break
        looked = len(page)
    return OpenTasks(found.fit, found.unfit)


class _TaskSorter:
    """The tasks found so far, sorted into fit and unfit."""

    def __init__(self, tx: Transaction, agent: Agent, now: datetime, attempts: int, is_to_show: bool) -> None:
        self._tx = tx
        self._agent = agent
        self._now = now
        self._attempts = attempts
        self._is_to_show = is_to_show
        self.fit: list[Task] = []
        self.unfit: list[UnfitTask] = []

    async def add(self, task: Task) -> None:
        unfit = await self._unfit(task)
        if unfit is not None:
            self.unfit.append(unfit)
        elif not self._is_to_show or await parked_copies(self._tx, [task], self._now):
            self.fit.append(task)

    async def _unfit(self, task: Task) -> UnfitTask | None:
        if is_left(task) and task.attempt >= self._attempts:
            why = f"{task.attempt} sessions took it up and ended before it was finished"
            return UnfitTask(task, TaskMove.FAIL, why)
        if task_at(task, self._now) is not task:
            return UnfitTask(task, TaskMove.LAPSE, DEADLINE)
        if task.state is TaskState.PENDING and (why := await not_allowed(self._tx, self._agent, task)) is not None:
            return UnfitTask(task, TaskMove.REJECT, why)
        return None


async def fit_tasks(
    act: Act,
    agent: AgentName,
    limit: int,
    notice_ports: NoticePorts,
    attempts: int = TASK_ATTEMPTS,
    *,
    is_to_show: bool = False,
) -> Sequence[Task]:
    """Like `open_tasks`, but end the tasks that must not be taken, and return only the others."""
    while (found := await open_tasks(act.tx, agent, act.now, limit, attempts, is_to_show=is_to_show)).unfit:
        for task, move, reason in found.unfit:
            # A rejection is the agent's own; for a failed or late task the actor is the space.
            ending = act if move is TaskMove.REJECT else act._replace(actor=THE_SPACE)
            await shift_task(ending, task, move, notice_ports, reason=reason)
    return found.fit


async def not_allowed(tx: Transaction, agent: Agent, task: Task) -> str | None:
    """Return why an agent takes no task from that delegator; None if it does."""
    if allows(agent.card.allow_from, task.delegator) or (await known_message(tx, task.id)).sender.is_operator:
        return None
    return f"{task.agent} takes no tasks from {task.delegator} (allow_from)"


async def parked_copies(tx: Transaction, tasks: Sequence[Task], now: datetime) -> Sequence[DeliveryRecord]:
    """Return the queued messages of unclaimed tasks. An archived message is left out."""
    copies = [copy for task in tasks for copy in await tx.deliveries.of_message(task.id)]
    return [copy for copy in copies if copy.is_parked and state_at(copy, now) is DeliveryState.QUEUED]


async def task_refusal(act: Act, recipient: Recipient) -> Refusal | None:
    """Return why an agent has no room for one more task, or None. If tasks may not queue, waiting tasks count too."""
    quota = recipient.card.quota
    if quota == 0:
        return Refusal(RefusalCode.OVER_QUOTA, f"{recipient.agent} takes no tasks (its quota is 0)")
    if recipient.card.overflow is TaskOverflow.QUEUE:
        return None
    held = await taken_places(act.tx, recipient.agent, quota, act.now)
    taken = held + await waiting_tasks(act.tx, recipient.agent, quota, act.now)
    if taken < quota:
        return None
    return Refusal(RefusalCode.OVER_QUOTA, f"{recipient.agent} has {taken} of {quota} tasks and queues none")


async def open_task(act: Act, message: Message, delivery: DeliveryRecord) -> None:
    """Record the task that a message hands over. A refused task is rejected from the start, as the receipt says."""
    await act.tx.tasks.put(new_task(message, delivery)._replace(parent=await parent_of(act.tx, message)))


def new_task(message: Message, delivery: DeliveryRecord) -> Task:
    """Return a new task, without its parent."""
    if delivery.agent is None:
        raise RuntimeError(f"task {message.id} has no recipient")
    is_refused = delivery.state is not DeliveryState.QUEUED
    return Task(
        id=message.id,
        delegator=message.sender.agent,
        agent=delivery.agent,
        state=TaskState.REJECTED if is_refused else TaskState.PENDING,
        created_at=message.created_at,
        updated_at=message.created_at,
        delegator_session=message.sender.session,
        scope=message.scope,
        deadline=message.deadline,
        reason=delivery.reason if is_refused else None,
        finished_at=message.created_at if is_refused else None,
    )


async def parent_of(tx: Transaction, message: Message) -> MessageId | None:
    """Return the parent of a task: the task that its message relays, or that the relayed message is about."""
    cause = await tx.messages.get(message.cause) if message.cause is not None else None
    if cause is None:
        return None
    if await tx.tasks.get(cause.id) is not None:
        return cause.id
    about = MessageId(cause.task.id) if cause.task is not None else None
    return about if about is not None and await tx.tasks.get(about) is not None else None
