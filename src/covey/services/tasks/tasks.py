"""Tasks: work that is delegated, listed, waited for and cancelled; and requests of a coordinator to a worker."""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.authority import check_sender
from covey.core.directory.session import Session
from covey.core.errors import IllegalMove, Invalid, TaskUnknown
from covey.core.identity import Identity
from covey.core.ledger.delivery import WAITING, Move
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Event
from covey.core.ledger.marks import DialogueKind, Marks, Step, is_part_of, pair_of
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.names import MessageId, message_topic
from covey.core.work.task import Task, TaskMove
from covey.ports.clock import Clock
from covey.ports.ledger import EventFilter
from covey.ports.store import Store, Transaction
from covey.ports.work import TaskFilter
from covey.services.act import Act, shift
from covey.services.mail.current_state import task_by_now
from covey.services.mail.filing import NoticePorts
from covey.services.mail.mail import Mail
from covey.services.mail.recipients import SendPolicy
from covey.services.polling import Poller
from covey.services.records import check_not_pruned, known_message
from covey.services.tasks.moves import cancel_task
from covey.services.tasks.open_tasks import new_task

PAGE = 500


class TaskView(NamedTuple):
    """A task as it is now, with the message that handed it over."""

    task: Task
    message: Message


class Delegation:
    def __init__(self, store: Store, clock: Clock, notice_ports: NoticePorts, mail: Mail, waiting: Poller) -> None:
        self._store = store
        self._clock = clock
        self._notice_ports = notice_ports
        self._mail = mail
        self._waiting = waiting

    async def delegate(self, draft: Draft, actor: Identity, policy: SendPolicy) -> TaskView:
        """Delegate work to an agent: the task is durable when this returns. A task that its agent can't take is
        rejected."""
        if draft.kind is not Kind.TASK:
            raise Invalid("kind", str(draft.kind), "use the kind task to delegate")
        if draft.deadline is not None and draft.deadline <= self._clock.now():
            raise Invalid("deadline", draft.deadline.isoformat(), "it has passed already")
        receipt, message, _ = await self._mail.submit(draft, actor, policy)
        if draft.id is not None or message.cause is not None:
            return await self.view(receipt.message_id)
        return TaskView(new_task(message, receipt.deliveries[0]), message)

    async def cancel(self, task_id: MessageId, actor: Identity, reason: str = "") -> Task:
        """Cancel a task. The agent that works on it is told to stop."""

        async def operation(tx: Transaction) -> Task:
            act = Act(tx, actor, self._clock.now())
            task = await known_task(tx.visible, task_id)
            check_sender(actor, "cancel", await known_message(tx, task_id))
            cancelled = await cancel_task(act, task_id, self._notice_ports, reason)
            if cancelled is None:
                raise IllegalMove("task", task.state, TaskMove.CANCEL)
            return cancelled

        return await self._store.commit(operation)

    async def result(self, task_id: MessageId, actor: Identity, timeout: float) -> TaskView | None:
        """Wait until a task is finished. Return None on timeout. The task's updates then count as given to the
        delegator, and do not appear in its inbox."""

        async def look() -> TaskView | None:
            view = await self.view(task_id)
            return view if view.task.is_finished else None

        found = await self._waiting.until([message_topic(task_id)], look, timeout)
        if found is not None and found.task.delegator == actor.agent:
            await self._store.commit(lambda tx: _collect(Act(tx, actor, self._clock.now()), found))
        return found

    async def view(self, task_id: MessageId) -> TaskView:
        """Return a task as it is now."""

        async def operation(tx: Transaction) -> TaskView:
            return await self._view(tx, await known_task(tx, task_id))

        return await self._store.read(operation)

    async def find(self, wanted: TaskFilter, limit: int = 100) -> Sequence[TaskView]:
        """Return the matching tasks that were delegated last, oldest first."""

        async def operation(tx: Transaction) -> Sequence[TaskView]:
            return [await self._view(tx, task) for task in await tx.tasks.find(wanted, limit)]

        return await self._store.read(operation, is_long=True)

    async def tree(self, task_id: MessageId) -> Sequence[TaskView]:
        """Return the whole tree of a task: its ancestors, and everything delegated from them, each after its parent."""

        async def operation(tx: Transaction) -> Sequence[TaskView]:
            top = await known_task(tx, task_id)
            while top.parent is not None and (parent := await tx.tasks.get(top.parent)) is not None:
                top = parent
            found: list[TaskView] = []
            ahead = [top]
            while ahead:
                task = ahead.pop()
                found.append(await self._view(tx, task))
                ahead.extend(reversed(await tx.tasks.children(task.id)))
            return found

        return await self._store.read(operation, is_long=True)

    async def history(self, task_id: MessageId, after: int = 0) -> Sequence[Event]:
        """Return the events of a task after a position of the journal."""

        async def operation(tx: Transaction) -> Sequence[Event]:
            await known_task(tx, task_id)
            return await tx.journal.read(after, PAGE, EventFilter(message_id=task_id))

        return await self._store.read(operation)

    async def changes(self, task_id: MessageId, after: int, timeout: float) -> Sequence[Event]:
        """Wait for events of a task after a position. Return an empty sequence on timeout."""

        async def look() -> Sequence[Event] | None:
            return await self.history(task_id, after) or None

        return await self._waiting.until([message_topic(task_id)], look, timeout) or ()

    async def _view(self, tx: Transaction, task: Task) -> TaskView:
        message = await known_message(tx, task.id)
        return TaskView(await task_by_now(tx, task, message, self._clock.now()), message)


async def known_task(tx: Transaction, task_id: MessageId) -> Task:
    """Return a task. Raise MessagePruned if it was pruned, TaskUnknown if it never existed."""
    task = await tx.tasks.get(task_id)
    if task is None:
        await check_not_pruned(tx, task_id)
        raise TaskUnknown(task_id)
    return task


async def _collect(act: Act, view: TaskView) -> None:
    """Settle the updates of a task that its delegator has received with the result."""
    await act.tx.waits.remove(act.actor.agent, view.task.id)
    for message in await act.tx.messages.thread(view.message.thread):
        if message.kind is Kind.UPDATE and message.task is not None and message.task.id == view.task.id:
            for copy in await act.tx.deliveries.of_message(message.id):
                if copy.agent == act.actor.agent and copy.state in WAITING:
                    await shift(act, copy, Move.SETTLE, "returned by delegate")


class Coordination:
    def __init__(self, store: Store, mail: Mail) -> None:
        self._store = store
        self._mail = mail

    async def last(self, worker: Session, actor: Identity) -> Message | None:
        """Return the last message of the two about the actor's work; None if there is none. Messages of others in the
        thread are left out."""
        pair = _work_pair(worker, actor)

        async def operation(tx: Transaction) -> Message | None:
            first = await tx.messages.latest_of(pair)
            if first is None or not is_part_of(pair, first.sender):
                return None
            said = [one for one in await tx.messages.thread(first.thread) if is_part_of(pair, one.sender)]
            return said[-1] if said else None

        return await self._store.read(operation)

    async def give(self, draft: Draft, worker: Session, actor: Identity) -> ReceiptRecord:
        """Send a worker something to do: its answer is finished work."""
        return await self._mail.send(draft, actor, SendPolicy(), Marks(_work_pair(worker, actor), step=Step.WORK))


def _work_pair(worker: Session, actor: Identity) -> str:
    return pair_of(DialogueKind.WORK, actor, Identity(worker.agent, worker.id))
