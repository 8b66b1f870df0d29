"""The wait-for graph: who can't go on before whom, and whether one more wait would close a circle."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import isnan
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.ids import MessageId, SessionId, TicketId
from covey.core.names import AgentName

Awaited = TicketId | MessageId
"""What somebody waits for: the answer to a question, or the end of a task."""

LONGEST_WAIT: Final = 366 * 86_400.0
"""Seconds. Longer waits are known for this long."""

KEPT_LONGER: Final = timedelta(minutes=1)
"""How long an answer is kept for a waiter whose time is over: it may be about to take the answer."""


def end_of_wait(now: datetime, seconds: float) -> datetime:
    """Return when a wait that begins now runs out. Seconds that are not a number are Invalid."""
    if isnan(seconds):
        raise Invalid("seconds", seconds, "use a number of seconds of 0 or more")
    return now + timedelta(seconds=min(max(seconds, 0.0), LONGEST_WAIT))


class Wait(NamedTuple):
    """A session that waits until something has come, or its time has run out. The answer that it waits for is given to
    the waiter, and not to the reader of its inbox."""

    asker: AgentName
    what: Awaited
    session: SessionId | None
    """None for somebody who waits without one, from a shell."""
    since: datetime
    until: datetime
    blocks: bool = True
    """The waiter does nothing else; otherwise it answers others meanwhile, and no circle goes through it."""
    takes_questions: bool = False
    """A question back is given to the waiter too."""

    def takes_at(self, now: datetime) -> bool:
        """Tell whether an answer that is there now belongs to the waiter."""
        return now < self.until + KEPT_LONGER


class Edge(NamedTuple):
    """One agent that needs another."""

    waiter: AgentName
    awaited: AgentName
    what: Awaited
    since: datetime
    until: datetime | None = None
    """Until when the waiter waits and does nothing else; None where it is only owed something."""

    @property
    def is_task(self) -> bool:
        return "@" not in self.what

    @property
    def is_wait(self) -> bool:
        return self.until is not None

    def __str__(self) -> str:
        return f"{self.waiter} waits for {self.awaited} ({'task' if self.is_task else 'ticket'} {self.what})"


class Walk:
    """A walk from an agent that is about to wait, along the waits of others, until it comes back or there is nowhere to
    go. Whoever knows the waits feeds them, one agent after the other; each agent is come to once."""

    def __init__(self, asker: AgentName, first: Iterable[Edge]) -> None:
        self._asker = asker
        self._ahead = deque[AgentName]()
        self._came_by: dict[AgentName, Edge] = {}
        self.feed(first)

    def next(self) -> AgentName | None:
        """Return the agent whose waits are to be fed now; None at the end of the walk."""
        return None if self._asker in self._came_by or not self._ahead else self._ahead.popleft()

    def feed(self, edges: Iterable[Edge]) -> None:
        """Go along the edges, each from where the walk has been. Who waits for another session of its own goes
        nowhere."""
        for edge in edges:
            is_known = edge.waiter == self._asker or edge.waiter in self._came_by
            if is_known and edge.awaited != edge.waiter and edge.awaited not in self._came_by:
                self._came_by[edge.awaited] = edge
                self._ahead.append(edge.awaited)

    def came_by(self, agent: AgentName) -> Edge:
        """Return the edge by which the walk came to an agent first."""
        return self._came_by[agent]

    @property
    def circle(self) -> Sequence[Edge]:
        """The way from the asker back to it; empty where there is none."""
        steps: list[Edge] = []
        edge = self._came_by.get(self._asker)
        while edge is not None:
            steps.append(edge)
            edge = None if edge.waiter == self._asker else self._came_by[edge.waiter]
        return steps[::-1]


def circles(edges: Collection[Edge]) -> Collection[Edge]:
    """Return the edges that are part of a circle."""
    group = _groups(edges)
    return [e for e in edges if e.waiter != e.awaited and group[e.waiter] == group[e.awaited]]


def _groups(edges: Collection[Edge]) -> Mapping[AgentName, int]:
    """Return for each agent the number of its group: all in a group can be come to from each other. Two walks, the
    second against the direction in which the first left the agents."""
    onward: dict[AgentName, list[AgentName]] = {}
    back: dict[AgentName, list[AgentName]] = {}
    for edge in edges:
        onward.setdefault(edge.waiter, []).append(edge.awaited)
        onward.setdefault(edge.awaited, [])
        back.setdefault(edge.awaited, []).append(edge.waiter)
    left: list[AgentName] = []
    seen: set[AgentName] = set()
    for agent in onward:
        _leave(agent, onward, seen, left)
    group: dict[AgentName, int] = {}
    for number, agent in enumerate(reversed(left)):
        ahead = [agent]
        while ahead:
            one = ahead.pop()
            if one not in group:
                group[one] = number
                ahead.extend(back.get(one, ()))
    return group


def _leave(
    start: AgentName, onward: Mapping[AgentName, Sequence[AgentName]], seen: set[AgentName], left: list[AgentName]
) -> None:
    """Add all that can be come to from `start` to those that were left, each after those behind it."""
    if start in seen:
        return
    seen.add(start)
    trail = [(start, iter(onward[start]))]
    while trail:
        agent, ahead = trail[-1]
        further = next((one for one in ahead if one not in seen), None)
        if further is None:
            left.append(agent)
            trail.pop()
        else:
            seen.add(further)
            trail.append((further, iter(onward[further])))
