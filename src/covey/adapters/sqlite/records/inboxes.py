"""Inboxes in SQLite: waiting deliveries, and the counts of queued ones."""

from collections.abc import Collection, Sequence
from typing import Final

from covey.adapters.sqlite.engine.access import Access
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.records.delivery_rows import SEQ, delivery_rows, readable
from covey.core.ids import InboxId
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.message import Kind
from covey.core.names import AgentName, Scope, Subject

_COUNTS = statements("counts")
_NUMBERED = _COUNTS["numbered"]
_QUEUED = _COUNTS["queued"]


def next_number(access: Access, agent: AgentName, count: int = 1) -> int:
    """Reserve `count` numbers for the agent's mail, and return the first."""
    known = access.known
    last = known.numbered.get(agent)
    if last is None:
        row = access.read(_NUMBERED, (agent,)).fetchone()
        if row is None:
            raise LookupError(f"no agent {agent} to count for")
        last = int(row[0])
    known.numbered[agent] = last + count
    known.unwritten[agent] = True
    known.changes += 1
    return last + 1


def queued(access: Access, inbox: InboxId) -> int:
    """Return the number of deliveries that are queued in the inbox."""
    count = access.known.queued.get(inbox)
    if count is None:
        row = access.read(_QUEUED, (inbox,)).fetchone()
        count = access.known.queued[inbox] = 0 if row is None else row[0]
    return count


def change_queued(access: Access, inbox: InboxId, change: int) -> None:
    """Add `change` to the count of queued deliveries of the inbox."""
    known = access.known
    count = known.queued.get(inbox)
    known.queued[inbox] = (queued(access, inbox) if count is None else count) + change
    known.unwritten[inbox] = False
    known.changes += 1


def write_counts(access: Access) -> None:
    """Write the changed counts."""
    known = access.known
    for name, is_agent in known.unwritten.items():
        if is_agent:
            access.write(_COUNTS["number"], (known.numbered[AgentName(name)], name))
        elif count := known.queued[InboxId(name)]:
            access.write(_COUNTS["queue"], (name, count))
        else:
            access.write(_COUNTS["queue_none"], (name,))
    known.unwritten.clear()


_INBOXES = statements("deliveries")
_WAITING = _INBOXES["waiting"]
_STATES: Final = 3
_KINDS: Final = 5


class SqliteInboxes:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def waiting(
        self, inbox: InboxId, states: Collection[DeliveryState], after: int = 0, limit: int = 1000
    ) -> Sequence[Delivery]:
        wanted = _filled(states, _STATES)
        while True:
            rows = delivery_rows(self._access, _WAITING, (inbox, after, *wanted, limit))
            found = readable(rows)
            if found or not rows or len(rows) < limit:
                return found
            after = rows[-1][SEQ]  # more deliveries may follow a whole page of damaged ones

    async def queued(self, inbox: InboxId) -> int:
        return queued(self._access, inbox)

    async def oldest(self, inbox: InboxId, kinds: Collection[Kind]) -> Delivery | None:
        found = readable(delivery_rows(self._access, _INBOXES["oldest"], (inbox, *_filled(kinds, _KINDS))))
        return found[0] if found else None

    async def alike(self, inbox: InboxId, sender: AgentName, scope: Scope, subject: Subject) -> Sequence[Delivery]:
        return readable(delivery_rows(self._access, _INBOXES["alike"], (inbox, sender, scope, subject)))

    async def occupied(self) -> Sequence[InboxId]:
        return [InboxId(inbox) for (inbox,) in self._access.read(_INBOXES["occupied"])]


def _filled(words: Collection[str], places: int) -> tuple[str | None, ...]:
    """Return the distinct words, padded with null to the number of parameters of the statement. Null matches
    nothing."""
    distinct = tuple(set(words))
    return distinct + (None,) * (places - len(distinct))
