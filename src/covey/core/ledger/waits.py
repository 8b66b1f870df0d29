"""The wait-for graph of agents, and the search for deadlocks: circles that one more wait would close."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import isnan
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.names import AgentName, MessageId, SessionId, TicketId

Awaited = TicketId | MessageId
"""The object of a wait: the answer to a question, or the end of a task."""

LONGEST_WAIT: Final = 366 * 86_400.0
"""The longest wait that is recorded, in seconds. A longer wait is recorded with this length."""

KEPT_LONGER: Final = timedelta(minutes=1)
"""The time for which an answer is reserved for a waiter after its timeout: the waiter may be about to take it."""


def end_of_wait(now: datetime, seconds: float) -> datetime:
    """Return the end of a wait that begins now. Raise Invalid if `seconds` is not a number."""
    if isnan(seconds):
        raise Invalid("seconds", seconds, "use a number of seconds of 0 or more")
    return now + timedelta(seconds=min(max(seconds, 0.0), LONGEST_WAIT))


class Wait(NamedTuple):
    """A session's wait for an answer or a task, with a timeout. The answer goes to the waiter, and not to the reader of
    the session's inbox."""

    asker: AgentName
    what: Awaited
    session: SessionId | None
    """None for a waiter without a session, such as a shell command."""
    since: datetime
    until: datetime
    blocks: bool = True
    """True if the waiter does nothing else. Otherwise it answers others meanwhile, and can't be part of a deadlock."""
    takes_questions: bool = False
    """True if a question back goes to the waiter too."""

    def takes_at(self, now: datetime) -> bool:
        """Tell whether an answer that has arrived by `now` belongs to the waiter."""
        return now < self.until + KEPT_LONGER


class Edge(NamedTuple):
    """An edge of the graph: one agent waits for another, or is owed something by it."""

    waiter: AgentName
    awaited: AgentName
    what: Awaited
    since: datetime
    until: datetime | None = None
    """The end of the waiter's blocking wait; None if the waiter is only owed something."""

    @property
    def is_task(self) -> bool:
        return "@" not in self.what

    @property
    def is_wait(self) -> bool:
        return self.until is not None

    def __str__(self) -> str:
        return f"{self.waiter} waits for {self.awaited} ({'task' if self.is_task else 'ticket'} {self.what})"


class WaitWalk:
    """A breadth-first search from an agent that is about to wait, along the waits of others, until it returns to that
    agent or ends. The caller feeds the waits of one agent after the other; each agent is visited once."""

    def __init__(self, asker: AgentName, first: Iterable[Edge]) -> None:
        self._asker = asker
        self._ahead = deque[AgentName]()
        self._came_by: dict[AgentName, Edge] = {}
        self.feed(first)

    def next(self) -> AgentName | None:
        """Return the next agent whose waits the caller must feed; None at the end of the search."""
        return None if self._asker in self._came_by or not self._ahead else self._ahead.popleft()

    def feed(self, edges: Iterable[Edge]) -> None:
        """Follow the edges that start at a visited agent. An agent's wait for another session of its own is
        ignored."""
        for edge in edges:
            is_known = edge.waiter == self._asker or edge.waiter in self._came_by
            if is_known and edge.awaited != edge.waiter and edge.awaited not in self._came_by:
                self._came_by[edge.awaited] = edge
                self._ahead.append(edge.awaited)

    def came_by(self, agent: AgentName) -> Edge:
        """Return the edge by which the search first reached an agent."""
        return self._came_by[agent]

    @property
    def circle(self) -> Sequence[Edge]:
        """The path from the asker back to itself; empty if there is none."""
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
    """Return the number of each agent's strongly connected component. The algorithm is Kosaraju's: two depth-first
    searches, the second against the edges, in the reverse order in which the first left the agents."""
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
    """Append every agent that is reachable from `start` to `left`, in post-order."""
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
