"""The capacity of an inbox: its limit, and the policy when it is full."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.ledger.message import Kind
from covey.core.limits import DEFAULT_INBOX_CAPACITY, MAX_COUNT, PEERS_INBOX_CAPACITY


class Overflow(StrEnum):
    HOLD = "hold"
    """Keep the queued messages and refuse new ones, with inbox-full."""

    EVICT_OLDEST = "evict-oldest"
    """Evict the oldest notify, then the oldest response or update, then the oldest request."""

    FIRST_IN_FIRST_OUT = "first-in-first-out"
    """Evict the oldest message of any kind: the rule of the peers policy."""


class Capacity(NamedTuple):
    limit: int = DEFAULT_INBOX_CAPACITY
    overflow: Overflow = Overflow.HOLD


DEFAULT_CAPACITY: Final = Capacity()
PEERS_CAPACITY: Final = Capacity(PEERS_INBOX_CAPACITY, Overflow.FIRST_IN_FIRST_OUT)

EVICTION_ORDER: Final[dict[Overflow, Sequence[frozenset[Kind]]]] = {
    Overflow.HOLD: (),
    Overflow.EVICT_OLDEST: (
        frozenset({Kind.NOTIFY}),
        frozenset({Kind.RESPONSE, Kind.UPDATE}),
        frozenset({Kind.REQUEST}),
    ),
    Overflow.FIRST_IN_FIRST_OUT: (frozenset(Kind),),
}
"""For each policy, the kinds that may be evicted, in the order in which they are tried. `evict-oldest` never evicts a
task: its delegator was told that it arrived."""


def parse_capacity(limit: object, overflow: object) -> Capacity:
    """Parse a capacity from the values of a card or a caller."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_COUNT:
        raise Invalid("inbox capacity", limit, f"use a whole number from 1 to {MAX_COUNT:,}")
    try:
        return Capacity(limit, Overflow(overflow))
    except ValueError:
        raise Invalid("inbox overflow", overflow, "use " + ", ".join(Overflow)) from None
