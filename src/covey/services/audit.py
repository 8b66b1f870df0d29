"""The audit: holds the records of a space against its journal and against the rules of the ledger."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from covey.core.disagreement import Disagreement
from covey.core.event import Event
from covey.core.replay import Replay
from covey.ports.store import Store, Transaction
from covey.services.audit_books import Books
from covey.services.audit_listings import agent_faults, inbox_faults, owed_faults, recent_faults, session_faults
from covey.services.audit_messages import message_faults

PAGE: Final = 1000
"""How many events are read at a time."""


class Audit:
    """Looks at everything, changes nothing. The cost follows what is stored: it is for tests and for doctors."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def check(self) -> Sequence[Disagreement]:
        """Return every point on which the space contradicts itself, over one consistent view; none, where all is
        well."""
        return await self._store.read(_examine, is_long=True)


async def _examine(tx: Transaction) -> Sequence[Disagreement]:
    replay = Replay()
    async for event in _events(tx):
        replay.apply(event)
    books = Books()
    found = list(replay.faults)
    for message_id, deliveries in replay.messages.items():
        found.extend([fault async for fault in message_faults(tx, replay, books, message_id, deliveries)])
    for check in (inbox_faults, session_faults, agent_faults, owed_faults, recent_faults):
        found.extend([fault async for fault in check(tx, replay, books)])
    return found


async def _events(tx: Transaction) -> AsyncIterator[Event]:
    after = 0
    while page := await tx.journal.read(after, PAGE):
        for event in page:
            yield event
        after = page[-1].position
