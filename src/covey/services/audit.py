"""The audit: a comparison of a space's records with its journal and with the rules of the ledger."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from covey.core.disagreement import Disagreement
from covey.core.event import Event
from covey.core.replay import Replay
from covey.ports.checkup import Tell
from covey.ports.store import Store, Transaction
from covey.services.audit_books import Books
from covey.services.audit_listings import agent_faults, inbox_faults, owed_faults, recent_faults, session_faults
from covey.services.audit_messages import message_faults
from covey.services.audit_pruned import pruned_faults
from covey.services.audit_runs import run_faults
from covey.services.audit_tasks import binding_faults, task_listing_faults

PAGE: Final = 1000
"""The number of events per read."""


LISTINGS: Final = (
    inbox_faults,
    session_faults,
    agent_faults,
    owed_faults,
    task_listing_faults,
    recent_faults,
    pruned_faults,
    binding_faults,
    run_faults,
)
"""Checks that run after all messages were examined."""


class Audit:
    """Checks everything and changes nothing. The cost grows with the stored data: for tests and for `covey doctor`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def check(self, tell: Tell | None = None) -> Sequence[Disagreement]:
        """Return every contradiction within the space, over one consistent snapshot; an empty sequence if there is
        none. `tell` is called with the progress, from the thread or loop that runs the store's long reads."""
        return await self._store.read(lambda tx: _examine(tx, tell or _tell_nobody), is_long=True)


def _tell_nobody(_done: int, _of: int | None) -> None:
    """Ignore progress, for callers that want none."""


async def _examine(tx: Transaction, tell: Tell) -> Sequence[Disagreement]:
    replay = Replay()
    last = await tx.journal.last()
    async for event in _events(tx):
        replay.apply(event)
        if event.position % PAGE == 0:
            tell(event.position, 2 * last)
    books = Books()
    found = list(replay.faults)
    for done, (message_id, deliveries) in enumerate(replay.messages.items()):
        found.extend([fault async for fault in message_faults(tx, replay, books, message_id, deliveries)])
        if done % PAGE == 0:
            tell(last + last * done // len(replay.messages), 2 * last)
    for check in LISTINGS:
        found.extend([fault async for fault in check(tx, replay, books)])
    return found


async def _events(tx: Transaction) -> AsyncIterator[Event]:
    after = 0
    while page := await tx.journal.read(after, PAGE):
        for event in page:
            yield event
        after = page[-1].position
