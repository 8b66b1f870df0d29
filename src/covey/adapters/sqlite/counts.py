"""Counts: the last number of each agent's mail, and how many are queued in each inbox.

They are counted in memory and written once, before the transaction ends: a batch of sends to one agent changes them
many times.
"""

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.statements import statements
from covey.core.ids import InboxId
from covey.core.names import AgentName

_SQL = statements("counts")
_NUMBERED = _SQL["numbered"]
_QUEUED = _SQL["queued"]


def next_number(access: Access, agent: AgentName, count: int = 1) -> int:
    """Return the next number for the agent's mail, the first of `count`."""
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
    """Return how many deliveries are queued in the inbox."""
    count = access.known.queued.get(inbox)
    if count is None:
        row = access.read(_QUEUED, (inbox,)).fetchone()
        count = access.known.queued[inbox] = 0 if row is None else row[0]
    return count


def change_queued(access: Access, inbox: InboxId, change: int) -> None:
    """Count that so many more deliveries are queued in the inbox."""
    known = access.known
    count = known.queued.get(inbox)
    known.queued[inbox] = (queued(access, inbox) if count is None else count) + change
    known.unwritten[inbox] = False
    known.changes += 1


def write_counts(access: Access) -> None:
    """Write the counts that have changed."""
    known = access.known
    for name, is_agent in known.unwritten.items():
        if is_agent:
            access.write(_SQL["number"], (known.numbered[AgentName(name)], name))
        elif count := known.queued[InboxId(name)]:
            access.write(_SQL["queue"], (name, count))
        else:
            access.write(_SQL["queue_none"], (name,))
    known.unwritten.clear()
