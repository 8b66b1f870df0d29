"""Stops: exchanges and tasks that may say no more for a while, remembered as one setting of the space."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple, cast

from covey.core.compact import to_json
from covey.core.flow import Party
from covey.core.ids import MessageId
from covey.core.names import AgentName
from covey.core.storm import REST
from covey.core.times import format_instant, parse_instant

KEPT_STOPS: Final = 1_000
"""At the bound the oldest stop ends early."""


class Stop(NamedTuple):
    """An exchange of some parties, or the progress of a task, that was stopped."""

    id: MessageId
    """The message after which it was stopped; of a task, its own id."""
    agents: tuple[AgentName, ...]
    parties: frozenset[Party]
    """Messages among these are refused; empty where it is a task."""
    messages: int
    """About how many messages there had been."""
    at: datetime

    @property
    def until(self) -> datetime:
        """When it ends by itself."""
        return self.at + REST

    @property
    def is_task(self) -> bool:
        return not self.parties


def live_stops(value: str | None, now: datetime) -> Sequence[Stop]:
    """Return the stops that have not ended, the oldest first, from the value of the setting."""
    return [stop for stop in _read(value) if now < stop.until] if value else ()


def write_stops(stops: Iterable[Stop]) -> str:
    """Return stops as the value of the setting."""
    fields = [(s.id, s.agents, sorted(s.parties), s.messages, format_instant(s.at)) for s in stops]
    return to_json(fields[-KEPT_STOPS:]) if fields else ""


def stop_between(stops: Iterable[Stop], source: Party, targets: Collection[Party]) -> Stop | None:
    """Return the stop that a message from one party to others falls under; None where it may pass."""
    for stop in stops:
        if source in stop.parties and any(target in stop.parties for target in targets):
            return stop
    return None


@lru_cache(maxsize=8)
def _read(value: str) -> Sequence[Stop]:
    rows = cast(list[tuple[MessageId, list[AgentName], list[Party], int, str]], json.loads(value))
    return [Stop(i, tuple(agents), frozenset(parties), n, parse_instant(at)) for i, agents, parties, n, at in rows]
