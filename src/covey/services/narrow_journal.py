"""The journal as the holder of an agent's token sees it: the agent's own actions, actions on the agent, and the history
of the messages it sent."""

from collections.abc import Sequence
from typing import Final

from covey.core.authority import part_of, sees_copy
from covey.core.delivery import Delivery
from covey.core.event import Action, Event
from covey.core.identity import Identity
from covey.core.ids import DeliveryId, ticket_id
from covey.core.json import Json
from covey.ports.journal import EventFilter
from covey.ports.store import Transaction

PAGE: Final = 500


class NarrowJournal:
    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._agent = holder.agent

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> Sequence[Event]:
        found: list[Event] = []
        while len(found) < limit and (page := await self._tx.journal.read(after, PAGE, wanted)):
            found.extend([seen for event in page if (seen := await self._seen(event)) is not None])
            after = page[-1].position
        return found[:limit]

    async def last(self) -> int:
        return await self._tx.journal.last()

    async def append(self, event: Event, details: str | None = None) -> None:
        raise RuntimeError("a read does not write: use commit")

    async def _seen(self, event: Event) -> Event | None:
        if self._agent in (event.actor.agent, event.agent):
            return event
        if event.message_id is None:
            return await self._of_several(event)
        message = await self._tx.messages.get(event.message_id)
        if message is None:
            return None
        if message.sender.agent == self._agent:
            return event
        return await self._of_several(event) if event.action is Action.MESSAGE_SENT else None

    async def _of_several(self, event: Event) -> Event | None:
        """Return the part of an event that is about the holder's mail, for an event about several deliveries."""
        listed = event.details.get("deliveries")
        copies = [await self._copy(item) for item in listed] if isinstance(listed, list | tuple) else []
        seen = [copy for copy in copies if copy is not None and sees_copy(self._agent, copy)]
        own = {ticket_id(copy.message_id, self._agent) for copy in seen}
        return part_of(event, {copy.id for copy in seen}, own) if seen else None

    async def _copy(self, item: Json) -> Delivery | None:
        return await self._tx.deliveries.get(DeliveryId(str(item.get("id") if isinstance(item, dict) else item)))
