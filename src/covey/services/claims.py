"""Claims: a task waits with its agent until exactly one session takes it."""

from covey.core.delivery import Delivery, DeliveryState, state_at
from covey.core.errors import DeliveryUnknown
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.message import Kind
from covey.ports.clock import Clock
from covey.ports.presence import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act, place
from covey.services.known import own_session
from covey.services.presence import live_sessions
from covey.services.steady import SteadyLiveness


class Claims:
    def __init__(self, store: Store, clock: Clock, liveness: Liveness) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness

    async def claim(self, message_id: MessageId, actor: Identity) -> Delivery | None:
        """Take a task of the actor's agent into the actor's session; None where another session has it, or it is over.
        Claiming again what one has changes nothing."""

        async def operation(tx: Transaction) -> Delivery | None:
            act = Act(tx, actor, self._clock.now())
            await live_sessions(act, actor.agent, SteadyLiveness(self._liveness))  # the dead give up what they had
            session = await own_session(tx, actor)
            copies = await tx.deliveries.of_message(message_id)
            task = next((copy for copy in copies if copy.agent == session.agent and copy.kind is Kind.TASK), None)
            if task is None:
                raise DeliveryUnknown(message_id, actor.agent)
            if task.inbox == session.inbox:
                return task
            if not task.is_parked or state_at(task, act.now) is not DeliveryState.QUEUED:
                return None
            return await place(act, task, session.inbox)

        return await self._store.commit(operation)
