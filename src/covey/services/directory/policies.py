"""Policies: settings of a whole space, journalled when they change."""

from typing import Final

from covey.core.identity import Identity
from covey.core.ledger.event import Action
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal

CLOSED_ROSTER: Final = "closed-roster"
"""Only agents that are known already can be written to."""

TELL_UNAUTHORIZED: Final = "tell-unauthorized"
"""A sender whose mail a recipient does not accept is notified in its inbox, not only in its receipt."""

SUBJECTS_ARE_CATEGORIES: Final = "subjects-are-categories"
"""A subject is a category, and not a topic. So a later message does not supersede an earlier one with the same subject,
unless its sender asks for that. This holds in folders that agent loops share, whose subjects are categories of
findings."""

OF_THE_STORE: Final = frozenset({SUBJECTS_ARE_CATEGORIES})
"""Settings that describe a store. They are not copied when a space moves to another store."""

PAUSED: Final = "paused"
"""All pauses of agents and of the space, as one value: so the check costs little for agents that are not paused. Empty
or absent if there is none."""

STOPPED: Final = "stopped-exchanges"
"""The exchanges and tasks that are stopped for a while, as one value for the same reason. Empty or absent if there is
none."""


class Policies:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def close_roster(self, actor: Identity, *, closed: bool = True) -> None:
        """Close the roster, or open it again. Agents can still join a closed roster, but unknown names can't be written
        to."""
        await self._switch(CLOSED_ROSTER, closed, actor)

    async def tell_unauthorized(self, actor: Identity, *, told: bool = True) -> None:
        """Set whether a sender that is not allowed also finds a rejection in its inbox."""
        await self._switch(TELL_UNAUTHORIZED, told, actor)

    async def _switch(self, setting: str, value: bool, actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            await tx.settings.put(setting, "true" if value else "false")
            act = Act(tx, actor, self._clock.now())
            await journal(act, Action.SETTING_CHANGED, setting=setting, value=value)

        await self._store.commit(operation)


async def is_on(tx: Transaction, setting: str) -> bool:
    """Tell whether a policy is switched on."""
    return await tx.settings.get(setting) == "true"
