"""Claims: a task waits with its agent until exactly one session takes it."""

from covey.core.delivery import Delivery, DeliveryState, state_at
from covey.core.errors import DeliveryUnknown
from covey.core.event import Action
from covey.core.identity import Identity
from covey.core.ids import MessageId, SessionId, message_topic
from covey.core.message import Kind
from covey.core.session import Session
from covey.core.task import Task, claimed
from covey.ports.clock import Clock
from covey.ports.presence import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal, place
from covey.services.known import known_agent, own_session
from covey.services.pauses import check_not_paused
from covey.services.presence import live_sessions
from covey.services.steady import SteadyLiveness


class Claims:
    def __init__(self, store: Store, clock: Clock, liveness: Liveness) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness

    async def claim(self, message_id: MessageId, actor: Identity) -> Delivery | None:
        """Take a task of the actor's agent into the actor's session; None where another session has it, it is over, or
        the quota has no room. Claiming again what one has changes nothing."""

        async def operation(tx: Transaction) -> Delivery | None:
            act = Act(tx, actor, self._clock.now())
            await live_sessions(act, actor.agent, SteadyLiveness(self._liveness))  # the dead give up what they had
            session = await own_session(tx, actor)
            await check_not_paused(tx, session.agent)
            delivery = await task_delivery(act, message_id)
            if delivery.inbox == session.inbox:
                return delivery
            task = await tx.tasks.get(message_id)
            if task is None or task.is_finished or task.claimed_by not in (None, session.id):
                return None
            quota = (await known_agent(tx, actor.agent)).card.quota
            if not task.is_held and await tx.tasks.places(actor.agent) >= quota:
                return None
            if not delivery.is_parked or state_at(delivery, act.now) is not DeliveryState.QUEUED:
                return None
            await show_claim(act, task, session)
            return await task_delivery(act, message_id)

        return await self._store.commit(operation)


async def task_delivery(act: Act, task_id: MessageId) -> Delivery:
    """Return the one delivery of a task to the actor's agent; DeliveryUnknown where it is not for that one."""
    for copy in await act.tx.deliveries.of_message(task_id):
        if copy.agent == act.actor.agent and copy.kind is Kind.TASK:
            return copy
    raise DeliveryUnknown(task_id, act.actor.agent)


async def show_claim(act: Act, task: Task, session: Session) -> None:
    """Let a session have a task, and its message where the session can show it."""
    await take_claim(act, task, session.id)
    for copy in await act.tx.deliveries.of_message(task.id):
        if copy.is_parked and state_at(copy, act.now) is DeliveryState.QUEUED:
            await place(act, copy, session.inbox)


async def take_claim(act: Act, task: Task, session: SessionId | None) -> Task:
    """Let a session have a task, or somebody without one. Its message stays where it is: who works on it as a program
    is not shown it."""
    after = claimed(task, session, act.now)
    await act.tx.tasks.put(after)
    await journal(
        act,
        Action.TASK_CLAIMED,
        message_id=task.id,
        agent=task.agent,
        scope=task.scope,
        session=after.claimed_by,
        attempt=after.attempt,
    )
    act.tx.ring(message_topic(task.id))
    return after


async def take_parked(act: Act, copy: Delivery, session: Session) -> Delivery:
    """Let a session have the task that a parked delivery hands over; return the delivery in the session's inbox."""
    task = await act.tx.tasks.get(copy.message_id)
    if task is not None:
        await show_claim(act, task, session)
    return await act.tx.deliveries.get(copy.id) or copy


def is_left(task: Task) -> bool:
    """Tell whether the session that worked on it has ended."""
    return task.is_active and task.abandoned_at is not None
