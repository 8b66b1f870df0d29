"""Policies: what holds for a whole space, set once and journalled."""

from typing import Final

from covey.core.event import Action
from covey.core.identity import Identity
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal

CLOSED_ROSTER: Final = "closed-roster"
"""The agents known so far are the only ones that can be written to."""

TELL_UNAUTHORIZED: Final = "tell-unauthorized"
"""A sender that a recipient does not take mail from is told so in its inbox, not only in its receipt."""

SUBJECTS_ARE_CATEGORIES: Final = "subjects-are-categories"
"""A subject says what sort of thing a message is about, not which thing. So a later one replaces no earlier one, unless
its sender asks for that. It holds where agent loops share a folder, whose subjects are categories of findings."""

OF_THE_STORE: Final = frozenset({SUBJECTS_ARE_CATEGORIES})
"""Settings that say what a store is. They do not travel with a space that moves to another."""

PAUSED: Final = "paused"
"""What is paused, as one value for all agents and the space: so looking costs those little who are not. Empty or absent
where nothing is."""

STOPPED: Final = "stopped-exchanges"
"""The exchanges and tasks that are stopped for a while, as one value for the same reason. Empty or absent where nothing
is."""


class Policies:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def close_roster(self, actor: Identity, *, closed: bool = True) -> None:
        """Close the roster, or open it again. Joining stays possible; writing to an unknown name does not."""
        await self._switch(CLOSED_ROSTER, closed, actor)

    async def tell_unauthorized(self, actor: Identity, *, told: bool = True) -> None:
        """Let senders that are not allowed find a rejection in their inboxes too, or not."""
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
