"""The roster: whether the agents known so far are the only ones that can be written to."""

from covey.core.event import Action
from covey.core.identity import Identity
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.recipients import CLOSED_ROSTER


class Roster:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def close(self, actor: Identity, *, closed: bool = True) -> None:
        """Close the roster, or open it again. Joining stays possible; writing to an unknown name does not."""

        async def operation(tx: Transaction) -> None:
            await tx.settings.put(CLOSED_ROSTER, "true" if closed else "false")
            act = Act(tx, actor, self._clock.now())
            await journal(act, Action.SETTING_CHANGED, setting=CLOSED_ROSTER, value=closed)

        await self._store.commit(operation)
