"""Storms: exchanges and tasks that are stopped, causal trees that have reached their limits, and lifting their stops.

Messages to an agent are sampled, and a circle of agents that keep each other going is stopped. Beyond a limit, the
progress updates of a task have to keep a distance."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from covey.core.authority import check_operator
from covey.core.directory.routing import Recipient
from covey.core.errors import ExchangeStorm, MessageUnknown, ProgressStorm
from covey.core.identity import THE_SPACE, Identity
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, Message
from covey.core.limits import FLOW_SAMPLE
from covey.core.names import RESERVED, AgentName, MessageId, parked_inbox, session_inbox
from covey.core.storms.budget import (
    HURRY,
    STORM_LIMITS,
    Limit,
    Limits,
    Tree,
    encode_limits,
    is_near,
    lifted,
    parse_limit,
)
from covey.core.storms.echo import theme
from covey.core.storms.flow import (
    KEPT_THEMES,
    LARGEST,
    Flow,
    Party,
    StormStop,
    begun_anew,
    best_circle,
    counted,
    exchanged,
    fit_to_follow,
    live_stops,
    rested,
    sampled,
    stop_between,
    write_stops,
)
from covey.core.times import format_instant
from covey.core.work.task import Task
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.directory.settings import STOPPED
from covey.services.mail.filing import NoticePorts
from covey.services.records import known_message
from covey.services.storms.check import limits_of, tell_stopped

MOST_FLOWS: Final = 8
"""Limit of the flows of one party that are tracked."""

MOST_PARTIES: Final = 24
"""Limit of the parties that are examined for one sample."""


def samples_of(copies: Iterable[DeliveryRecord]) -> Sequence[DeliveryRecord]:
    """Return the copies of a message that are samples: one for each agent at most."""
    found = {
        copy.agent: copy
        for copy in copies
        if copy.number % FLOW_SAMPLE == 0 and copy.state is DeliveryState.QUEUED and copy.agent is not None
    }
    return [*found.values()]


async def count_samples(
    act: Act, message: Message, samples: Iterable[DeliveryRecord], notice_ports: NoticePorts, *, is_due: bool
) -> None:
    """Count the samples of a message that was just filed.

    If they complete an exchange, it is stopped: the stop is journalled, and the agents and the operator are notified.
    """
    for copy in samples:
        if copy.agent is None or copy.agent in RESERVED or message.sender.agent in RESERVED:
            continue
        source, target = _source(message, copy.agent), _target(message, copy)
        if source != target:
            limit = (await limits_of(act.tx)).exchange
            circle = await _count(act, message, copy, Flow(source, target, act.now), limit, is_due=is_due)
            if circle and exchanged(circle) >= limit:
                await _stop_circle(act, message, circle, notice_ports)


async def check_not_stopped(act: Act, message: Message, recipients: Iterable[Recipient]) -> None:
    """Raise ExchangeStorm if a message is part of a stopped exchange."""
    stops = await stops_at(act.tx, act.now)
    if not stops:
        return
    for recipient in recipients:
        stop = stop_between(stops, _source(message, recipient.agent), _targets(message, recipient))
        if stop is not None:
            raise _error(stop)


async def look_after(act: Act, recipients: Iterable[Recipient]) -> None:
    """Restart the counts of the agents that a person writes to, and of the agents that those write to, because a person
    attends to them."""
    agents: set[AgentName] = set()
    for recipient in recipients:
        agents.add(recipient.agent)
        for party in (recipient.agent, *(session.inbox for session in recipient.sessions)):
            await _begin_anew(act, Party(party))
    await _end_stops(act, [stop for stop in await stops_at(act.tx, act.now) if not agents.isdisjoint(stop.agents)])


async def _begin_anew(act: Act, first: Party) -> None:
    """Forget the flows of a party, and of the parties that may be in a circle with it."""
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


async def lift_stop(act: Act, stop: StormStop) -> None:
    """Lift a stop. The counts start again."""
    for party in stop.parties or (Party(stop.id),):
        await act.tx.flows.remove(party)
    await _end_stops(act, [stop])
    await journal(act, Action.STORM_LIFTED, message_id=stop.id, agents=[*stop.agents], messages=stop.messages)


async def stops_at(tx: Transaction, now: datetime) -> Sequence[StormStop]:
    """Return the stops that are in force at a time, oldest first."""
    return live_stops(await tx.settings.get(STOPPED), now)


async def add_stop(act: Act, stop: StormStop) -> None:
    """Record a stop."""
    await act.tx.settings.put(STOPPED, write_stops([*await stops_at(act.tx, act.now), stop]))


async def _end_stops(act: Act, ended: Sequence[StormStop]) -> None:
    if ended:
        await act.tx.settings.put(
            STOPPED, write_stops(stop for stop in await stops_at(act.tx, act.now) if stop not in ended)
        )


async def _count(
    act: Act, message: Message, copy: DeliveryRecord, new: Flow, limit: int, *, is_due: bool
) -> Sequence[Flow]:
    """Count one sample, and return the circle that the sample is part of."""
    known = await act.tx.flows.get(new.source, new.target) or new
    flow = sampled(known, copy.seq, act.now, is_initiative=not is_due)
    if message.kind is Kind.REQUEST and message.expects_reply:
        flow = await _count_question(act, message, flow)
    circle = await _circle(act, flow, limit) if flow.has_initiative else ()
    flow = counted(flow, is_in_circle=bool(circle))
    await act.tx.flows.put(flow)
    return (flow, *circle[1:]) if circle else ()


async def _count_question(act: Act, message: Message, flow: Flow) -> Flow:
    """Compare a question with earlier ones.

    An agent that repeats a question treats the answer as none, so the answers count as initiatives.
    """
    about = theme(message.parts)
    if about not in flow.themes:
        return flow._replace(themes=(about, *flow.themes)[:KEPT_THEMES])
    back = await act.tx.flows.get(flow.target, flow.source)
    if back is not None and back.samples:
        await act.tx.flows.put(back._replace(initiative=back.samples[0]))
    return flow


async def _circle(act: Act, flow: Flow, limit: int) -> Sequence[Flow]:
    """Return the circle through a flow with the most messages; empty if there is none.

    The direct way back is examined first, and longer circles only if one of them could matter.
    """
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


async def _stop_circle(act: Act, message: Message, circle: Sequence[Flow], notice_ports: NoticePorts) -> None:
    for flow in circle:
        await act.tx.flows.put(begun_anew(flow))
    parties = frozenset(flow.source for flow in circle)
    agents = tuple(dict.fromkeys(_agent(message, flow.source) for flow in circle))
    stop = StormStop(message.id, agents, parties, exchanged(circle), act.now)
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
    await tell_stopped(by_space, message, agents, error, notice_ports, about=message)


def _error(stop: StormStop) -> ExchangeStorm:
    return ExchangeStorm(stop.id, stop.agents, stop.messages, format_instant(stop.until))


def _source(message: Message, to: AgentName) -> Party:
    sender = message.sender
    if sender.agent != to:
        return Party(sender.agent)
    return Party(session_inbox(sender.session) if sender.session is not None else parked_inbox(sender.agent))


def _target(message: Message, copy: DeliveryRecord) -> Party:
    return Party(copy.inbox if copy.agent is None or copy.agent == message.sender.agent else copy.agent)


def _targets(message: Message, recipient: Recipient) -> Sequence[Party]:
    if message.sender.agent != recipient.agent:
        return (Party(recipient.agent),)
    return [Party(session.inbox) for session in recipient.sessions] or [Party(parked_inbox(recipient.agent))]


def _agent(message: Message, party: Party) -> AgentName:
    return message.sender.agent if ":" in party else AgentName(party)


MOST: Final = 10_000
"""The number of trees that are searched for those near a limit."""


class TreeView(NamedTuple):
    """A tree, and its root message; None if that was pruned."""

    tree: Tree
    root: Message | None


class Storms:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def limits(self) -> Limits:
        """Return the limits of causal trees in this space."""
        return await self._store.read(limits_of)

    async def set_limits(self, changes: Mapping[Limit, int], actor: Identity) -> Limits:
        """Change some of the limits, for existing and future trees. Return all limits."""
        check_operator(actor, "change the limits of the space")
        wanted = {limit: parse_limit(limit, value) for limit, value in changes.items()}

        async def operation(tx: Transaction) -> Limits:
            limits = (await limits_of(tx))._replace(**{str(limit): value for limit, value in wanted.items()})
            await tx.settings.put(STORM_LIMITS, json.dumps(encode_limits(limits)))
            act = Act(tx, actor, self._clock.now())
            await journal(act, Action.SETTING_CHANGED, setting=STORM_LIMITS, value=encode_limits(limits))
            return limits

        return await self._store.commit(operation)

    async def lift(self, message_id: MessageId, actor: Identity) -> Tree | StormStop:
        """Resume an exchange that was stopped after a message, or the progress of a task; otherwise the tree of the
        message. All counts start again."""
        check_operator(actor, "lift stops")

        async def operation(tx: Transaction) -> Tree | StormStop:
            act = Act(tx, actor, self._clock.now())
            for stop in await stops_at(tx, act.now):
                if stop.id == message_id:
                    await lift_stop(act, stop)
                    return stop
            found = await tx.trees.get(message_id) or await tx.trees.get((await known_message(tx, message_id)).root)
            if found is None:  # the message has caused nothing yet
                raise MessageUnknown(message_id)
            tree = lifted(found, act.now)
            await tx.trees.put(tree)
            await journal(act, Action.STORM_LIFTED, message_id=tree.root, tree=tree.root, messages=found.messages)
            return tree

        return await self._store.commit(operation)

    async def exchanges(self) -> Sequence[StormStop]:
        """Return the exchanges and tasks that are stopped now, oldest first."""
        return await self._store.read(lambda tx: stops_at(tx, self._clock.now()))

    async def stopped(self) -> Sequence[Tree]:
        """Return the stopped trees, the most recently grown first."""
        return await self._store.read(lambda tx: tx.trees.stopped())

    async def look(self, *, is_all: bool = False, limit: int = 100) -> Sequence[TreeView]:
        """Return the stopped trees, then the recently grown trees near a limit, or with `is_all` all recently grown
        trees. Recent means within the time limit of a tree."""

        async def operation(tx: Transaction) -> Sequence[TreeView]:
            limits, now = await limits_of(tx), self._clock.now()
            stopped = await tx.trees.stopped()
            lately = await tx.trees.since(now - timedelta(hours=min(limits.hours, 24 * 366)), MOST)
            near = [t for t in lately if not t.is_stopped and (is_all or is_near(t, limits, now))]
            return [TreeView(tree, await tx.messages.get(tree.root)) for tree in (*stopped, *near)[:limit]]

        return await self._store.read(operation, is_long=True)


async def count_progress(act: Act, task: Task, message: Message, notice_ports: NoticePorts) -> ProgressStorm | None:
    """Count an update of a task, or return the error that refuses it.

    The first refusal is journalled, and the worker, the delegator and the operator are notified.
    """
    party = Party(task.id)
    known = await act.tx.flows.get(party, party)
    if known is None or rested(known, act.now):
        known = Flow(party, party, act.now)
        is_hurried = False
    else:
        is_hurried = act.now - known.at < HURRY
    if is_hurried and known.exchanged >= (await limits_of(act.tx)).progress:
        return await _stop_progress(act, task, message, known.exchanged, notice_ports)
    await act.tx.flows.put(known._replace(at=act.now, exchanged=known.exchanged + is_hurried))
    return None


async def forget_progress(act: Act, task: Task) -> None:
    """Forget the count of a task's progress updates, because the task is finished."""
    await act.tx.flows.remove(Party(task.id))


async def _stop_progress(
    act: Act, task: Task, message: Message, count: int, notice_ports: NoticePorts
) -> ProgressStorm:
    error = ProgressStorm(task.id, task.agent, count, HURRY.total_seconds())
    if not any(stop.id == task.id and stop.is_task for stop in await stops_at(act.tx, act.now)):
        await add_stop(act, StormStop(task.id, (task.agent,), frozenset(), count, act.now))
        by_space = act._replace(actor=THE_SPACE)
        code, details = error.code, error.details
        await journal(by_space, Action.STORM_STOPPED, message_id=task.id, agent=task.agent, code=code, refusal=details)
        await tell_stopped(by_space, message, (task.agent,), error, notice_ports, about=message)
    return error
