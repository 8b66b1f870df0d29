"""Flows of messages between agents, exchanges (circles of flows that keep each other going), and the stops of exchanges
and tasks whose messages are refused for a while.

A reply names its cause, so a causal tree counts it. Most messages name no cause. The ledger does not know why an agent
sends a message, but it knows the sender, the recipient and the order. Every `FLOW_SAMPLE`-th message that an agent gets
is a sample of the flow from its sender. Flows that form a circle, and of which none runs ahead of the others, are an
exchange. An exchange has two agents in most cases, and `LARGEST` at most.

Two things are no exchange. A one-way flow has no way back. A flow that only returns what was asked for (answers to open
questions, updates of tasks) has no initiative: its target alone drives it.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple, NewType, cast

from covey.core.json import to_json
from covey.core.limits import FLOW_SAMPLE
from covey.core.names import AgentName, MessageId
from covey.core.storms.budget import REST
from covey.core.times import format_instant, parse_instant

Party = NewType("Party", str)
"""An agent, by its name. Between sessions of one agent, a session by its inbox."""

WINDOW: Final = 8
"""The number of samples of one flow within which every other flow of a circle must have had a sample, too."""

LARGEST: Final = 5
"""The largest number of agents in a circle."""

KEPT_THEMES: Final = 4
"""The number of earlier questions that a question is compared with. One that is like any of them is a repetition."""


class Flow(NamedTuple):
    """The messages from one party to another, as far as they were sampled since the last rest."""

    source: Party
    target: Party
    at: datetime
    """The time of the last sample."""
    samples: tuple[int, ...] = ()
    """The places of the last samples in the store's sequence, the latest first."""
    initiative: int = 0
    """The last sample that was an initiative: a message that the recipient had not asked for."""
    exchanged: int = 0
    """The number of samples that were taken while the flow was part of a circle, minus those taken while it was
    not."""
    themes: tuple[str, ...] = ()
    """The gists of the questions among the samples, without numbers; the latest first."""

    @property
    def has_initiative(self) -> bool:
        """True if one of the last samples was an initiative."""
        return bool(self.samples) and self.initiative >= self.samples[-1]


def rested(flow: Flow, now: datetime) -> bool:
    """Tell whether a flow has been idle for so long that its counts start again."""
    return now - flow.at >= REST


def sampled(flow: Flow, seq: int, now: datetime, *, is_initiative: bool) -> Flow:
    """Return the flow after one more sample; `seq` is its place in the store's sequence."""
    source, target, at, samples, initiative, exchanged_so_far, themes = flow
    if now - at >= REST:
        return Flow(source, target, now, (seq,), seq if is_initiative else 0)
    last = seq if is_initiative else initiative
    return Flow(source, target, now, (seq, *samples)[:WINDOW], last, exchanged_so_far, themes)


def keeps_pace(one: Flow, other: Flow) -> bool:
    """Tell whether each of two flows had a sample within the window of the other."""
    return _reaches(one, other) and _reaches(other, one)


def _reaches(one: Flow, other: Flow) -> bool:
    """Tell whether the last sample of one flow is within the window of another. A window that is not full yet includes
    everything."""
    return bool(one.samples) and (len(other.samples) < WINDOW or one.samples[0] >= other.samples[-1])


def fit_to_follow(flow: Flow, flows: Iterable[Flow], now: datetime) -> Sequence[Flow]:
    """Return the flows that can be part of a circle with `flow`, the one that exchanged most first."""
    found = [f for f in flows if f.has_initiative and not rested(f, now) and keeps_pace(flow, f)]
    return sorted(found, key=lambda f: -f.exchanged)


def best_circle(flow: Flow, onward: Mapping[Party, Sequence[Flow]]) -> Sequence[Flow]:
    """Return the circle through `flow` that exchanged most, or an empty sequence. `onward` has the candidate flows of
    each party, the strongest first."""
    return max(_circles(flow, onward), key=exchanged, default=())


def _circles(flow: Flow, onward: Mapping[Party, Sequence[Flow]]) -> Iterator[Sequence[Flow]]:
    ahead: list[tuple[Flow, ...]] = [(flow,)]
    while ahead:
        path = ahead.pop()
        been = {step.source for step in path}
        for step in onward.get(path[-1].target, ()):
            if step.target == flow.source:
                yield (*path, step)
            elif len(path) < LARGEST - 1 and step.target not in been:
                ahead.append((*path, step))


def exchanged(circle: Collection[Flow]) -> int:
    """Return an estimate of the number of messages that a circle has exchanged."""
    return FLOW_SAMPLE * sum(flow.exchanged for flow in circle)


def counted(flow: Flow, *, is_in_circle: bool) -> Flow:
    """Return the flow after its last sample was found to be part of a circle, or not."""
    if not is_in_circle and not flow.exchanged:
        return flow
    return flow._replace(exchanged=flow.exchanged + (1 if is_in_circle else -1))


def begun_anew(flow: Flow) -> Flow:
    """Return the flow with all its counts reset."""
    return Flow(flow.source, flow.target, flow.at)


KEPT_STOPS: Final = 1_000
"""The largest number of stops. Beyond it, the oldest stop ends early."""


class StormStop(NamedTuple):
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


def live_stops(value: str | None, now: datetime) -> Sequence[StormStop]:
    """Parse the value of the setting, and return the stops that have not ended, the oldest first."""
    return [stop for stop in _read(value) if now < stop.until] if value else ()


def write_stops(stops: Iterable[StormStop]) -> str:
    """Return stops as the value of the setting."""
    fields = [(s.id, s.agents, sorted(s.parties), s.messages, format_instant(s.at)) for s in stops]
    return to_json(fields[-KEPT_STOPS:]) if fields else ""


def stop_between(stops: Iterable[StormStop], source: Party, targets: Collection[Party]) -> StormStop | None:
    """Return the stop that applies to a message from one party to others, or None."""
    for stop in stops:
        if source in stop.parties and any(target in stop.parties for target in targets):
            return stop
    return None


@lru_cache(maxsize=8)
def _read(value: str) -> Sequence[StormStop]:
    rows = cast(list[tuple[MessageId, list[AgentName], list[Party], int, str]], json.loads(value))
    return [StormStop(i, tuple(agents), frozenset(parties), n, parse_instant(at)) for i, agents, parties, n, at in rows]
