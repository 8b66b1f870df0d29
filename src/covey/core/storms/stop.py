"""Stops: exchanges and tasks whose messages are refused for a while, stored as one setting of the space."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple, cast

from covey.core.ids import MessageId
from covey.core.json import to_json
from covey.core.names import AgentName
from covey.core.storms.budget import REST
from covey.core.storms.flow import Party
from covey.core.times import format_instant, parse_instant

KEPT_STOPS: Final = 1_000
"""The largest number of stops. Beyond it, the oldest stop ends early."""


class Stop(NamedTuple):
    """A stopped exchange of some parties, or the stopped progress of a task."""

    id: MessageId
    """The message after which the exchange was stopped; for a task, the task's id."""
    agents: tuple[AgentName, ...]
    parties: frozenset[Party]
    """The parties whose messages to each other are refused; empty for a task."""
    messages: int
    """An estimate of the number of messages before the stop."""
    at: datetime

    @property
    def until(self) -> datetime:
        """The time at which the stop ends by itself."""
        return self.at + REST

    @property
    def is_task(self) -> bool:
        return not self.parties


def live_stops(value: str | None, now: datetime) -> Sequence[Stop]:
    """Parse the value of the setting, and return the stops that have not ended, the oldest first."""
    return [stop for stop in _read(value) if now < stop.until] if value else ()


def write_stops(stops: Iterable[Stop]) -> str:
    """Return stops as the value of the setting."""
    fields = [(s.id, s.agents, sorted(s.parties), s.messages, format_instant(s.at)) for s in stops]
    return to_json(fields[-KEPT_STOPS:]) if fields else ""


def stop_between(stops: Iterable[Stop], source: Party, targets: Collection[Party]) -> Stop | None:
    """Return the stop that applies to a message from one party to others, or None."""
    for stop in stops:
        if source in stop.parties and any(target in stop.parties for target in targets):
            return stop
    return None


@lru_cache(maxsize=8)
def _read(value: str) -> Sequence[Stop]:
    rows = cast(list[tuple[MessageId, list[AgentName], list[Party], int, str]], json.loads(value))
    return [Stop(i, tuple(agents), frozenset(parties), n, parse_instant(at)) for i, agents, parties, n, at in rows]
