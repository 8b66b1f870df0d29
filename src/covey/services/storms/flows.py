"""Flows: messages to an agent are sampled, and a circle of agents that keep each other going is stopped.

The message that completes the count is delivered. Later messages among these agents are refused until the stop ends.
Expected messages pass: answers to open questions, updates of tasks, and messages from and to people.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from covey.core.directory.routing import Recipient
from covey.core.errors import ExchangeStorm
from covey.core.identity import THE_SPACE
from covey.core.ids import parked_inbox, session_inbox
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, Message
from covey.core.limits import FLOW_SAMPLE
from covey.core.names import RESERVED, AgentName
from covey.core.storms.echo import theme
from covey.core.storms.flow import (
    KEPT_THEMES,
    LARGEST,
    Flow,
    Party,
    begun_anew,
    best_circle,
    counted,
    exchanged,
    fit_to_follow,
    sampled,
)
from covey.core.storms.stop import Stop, live_stops, stop_between, write_stops
from covey.core.times import format_instant
from covey.ports.store import Transaction
from covey.services.act import Act, journal
from covey.services.directory.policies import STOPPED
from covey.services.mail.updates import NoticePorts
from covey.services.storms.check import limits_of
from covey.services.storms.notices import tell_stopped

MOST_FLOWS: Final = 8
"""Limit of the flows of one party that are tracked."""

MOST_PARTIES: Final = 24
"""Limit of the parties that are examined for one sample."""


def samples_of(copies: Iterable[Delivery]) -> Sequence[Delivery]:
    """Return the copies of a message that are samples: one for each agent at most."""
    found = {
        copy.agent: copy
        for copy in copies
        if copy.number % FLOW_SAMPLE == 0 and copy.state is DeliveryState.QUEUED and copy.agent is not None
    }
    return [*found.values()]


async def count_samples(
    act: Act, message: Message, samples: Iterable[Delivery], desk: NoticePorts, *, is_due: bool
) -> None:
    """Count the samples of a message that was filed just now. Where they complete an exchange it is stopped: that is
    journalled, and the agents and the operator are told."""
    for copy in samples:
        if copy.agent is None or copy.agent in RESERVED or message.sender.agent in RESERVED:
            continue
        source, target = _source(message, copy.agent), _target(message, copy)
        if source != target:
            limit = (await limits_of(act.tx)).exchange
            circle = await _count(act, message, copy, Flow(source, target, act.now), limit, is_due=is_due)
            if circle and exchanged(circle) >= limit:
                await _stop(act, message, circle, desk)


async def check_not_stopped(act: Act, message: Message, recipients: Iterable[Recipient]) -> None:
    """Raise ExchangeStorm where a message is part of an exchange that is stopped."""
    stops = await stops_at(act.tx, act.now)
    if not stops:
        return
    for recipient in recipients:
        stop = stop_between(stops, _source(message, recipient.agent), _targets(message, recipient))
        if stop is not None:
            raise _error(stop)


async def look_after(act: Act, recipients: Iterable[Recipient]) -> None:
    """Count anew for the agents that a person writes to, and for those that they write to: somebody looks after
    them."""
    agents: set[AgentName] = set()
    for recipient in recipients:
        agents.add(recipient.agent)
        for party in (recipient.agent, *(session.inbox for session in recipient.sessions)):
            await _begin_anew(act, Party(party))
    await _end_stops(act, [stop for stop in await stops_at(act.tx, act.now) if not agents.isdisjoint(stop.agents)])


async def _begin_anew(act: Act, first: Party) -> None:
    """Forget the flows of a party, and of those that a circle through it could have."""
    ahead, known = [first], {first}
    for _ in range(LARGEST):
        further: list[Party] = []
        for party in ahead:
            targets = [flow.target for flow in await act.tx.flows.strongest(party, MOST_FLOWS)]
            if targets:
                await act.tx.flows.remove(party)
            further += [target for target in targets if target not in known]
            known.update(targets)
        ahead = further[:MOST_PARTIES]


async def lift_stop(act: Act, stop: Stop) -> None:
    """Let what was stopped go on, counted from now."""
    for party in stop.parties or (Party(stop.id),):
        await act.tx.flows.remove(party)
    await _end_stops(act, [stop])
    await journal(act, Action.STORM_LIFTED, message_id=stop.id, agents=[*stop.agents], messages=stop.messages)


async def stops_at(tx: Transaction, now: datetime) -> Sequence[Stop]:
    """Return the stops that are in force at a time, oldest first."""
    return live_stops(await tx.settings.get(STOPPED), now)


async def add_stop(act: Act, stop: Stop) -> None:
    """Remember that something is stopped."""
    await act.tx.settings.put(STOPPED, write_stops([*await stops_at(act.tx, act.now), stop]))


async def _end_stops(act: Act, ended: Sequence[Stop]) -> None:
    if ended:
        await act.tx.settings.put(
            STOPPED, write_stops(stop for stop in await stops_at(act.tx, act.now) if stop not in ended)
        )


async def _count(act: Act, message: Message, copy: Delivery, new: Flow, limit: int, *, is_due: bool) -> Sequence[Flow]:
    """Count one sample, and return the circle that it is part of."""
    known = await act.tx.flows.get(new.source, new.target) or new
    flow = sampled(known, copy.seq, act.now, is_initiative=not is_due)
    if message.kind is Kind.REQUEST and message.expects_reply:
        flow = await _count_question(act, message, flow)
    circle = await _circle(act, flow, limit) if flow.has_initiative else ()
    flow = counted(flow, is_in_circle=bool(circle))
    await act.tx.flows.put(flow)
    return (flow, *circle[1:]) if circle else ()


async def _count_question(act: Act, message: Message, flow: Flow) -> Flow:
    """Compare a question with those before it. Whoever repeats it takes the answer for no answer, so that the answers
    count as if they were initiatives."""
    about = theme(message.parts)
    if about not in flow.themes:
        return flow._replace(themes=(about, *flow.themes)[:KEPT_THEMES])
    back = await act.tx.flows.get(flow.target, flow.source)
    if back is not None and back.samples:
        await act.tx.flows.put(back._replace(initiative=back.samples[0]))
    return flow


async def _circle(act: Act, flow: Flow, limit: int) -> Sequence[Flow]:
    """Return the circle through a flow that exchanged most; nothing where there is none. The way straight back is
    looked at first, and others only where one of them could matter."""
    back = await act.tx.flows.get(flow.target, flow.source)
    pair = fit_to_follow(flow, () if back is None else (back,), act.now)
    if pair and exchanged([flow]) * LARGEST < limit:
        return (flow, *pair)
    found: dict[Party, Sequence[Flow]] = {flow.source: ()}
    ahead: list[Party] = [flow.target]
    for _ in range(LARGEST - 1):
        further: list[Party] = []
        for party in ahead:
            if party not in found and len(found) < MOST_PARTIES:
                found[party] = fit_to_follow(flow, await act.tx.flows.strongest(party, MOST_FLOWS), act.now)
                further += [onward.target for onward in found[party]]
        ahead = further
    found[flow.target] = [*pair, *(onward for onward in found[flow.target] if onward not in pair)]
    return best_circle(flow, found)


async def _stop(act: Act, message: Message, circle: Sequence[Flow], desk: NoticePorts) -> None:
    for flow in circle:
        await act.tx.flows.put(begun_anew(flow))
    parties = frozenset(flow.source for flow in circle)
    agents = tuple(dict.fromkeys(_agent(message, flow.source) for flow in circle))
    stop = Stop(message.id, agents, parties, exchanged(circle), act.now)
    await add_stop(act, stop)
    error = _error(stop)
    by_space = act._replace(actor=THE_SPACE)
    await journal(
        by_space,
        Action.STORM_STOPPED,
        message_id=message.id,
        agent=message.sender.agent,
        code=error.code,
        refusal=error.details,
    )
    await tell_stopped(by_space, message, agents, error, desk, about=message)


def _error(stop: Stop) -> ExchangeStorm:
    return ExchangeStorm(stop.id, stop.agents, stop.messages, format_instant(stop.until))


def _source(message: Message, to: AgentName) -> Party:
    sender = message.sender
    if sender.agent != to:
        return Party(sender.agent)
    return Party(session_inbox(sender.session) if sender.session is not None else parked_inbox(sender.agent))


def _target(message: Message, copy: Delivery) -> Party:
    return Party(copy.inbox if copy.agent is None or copy.agent == message.sender.agent else copy.agent)


def _targets(message: Message, recipient: Recipient) -> Sequence[Party]:
    if message.sender.agent != recipient.agent:
        return (Party(recipient.agent),)
    return [Party(session.inbox) for session in recipient.sessions] or [Party(parked_inbox(recipient.agent))]


def _agent(message: Message, party: Party) -> AgentName:
    return message.sender.agent if ":" in party else AgentName(party)
