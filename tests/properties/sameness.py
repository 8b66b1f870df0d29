"""Comparison of two engines: they may give different sequence numbers, but in the same order."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

from covey.core.channels.post import Binding, Post
from covey.core.directory.card import Agent
from covey.core.directory.session import Session
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.event import Event
from covey.core.ledger.message import Message
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.waits import Wait
from covey.core.names import DeliveryId, MessageId, OfferId, SessionId, TicketId
from covey.core.storms.budget import Tree
from covey.core.work.run import Run
from covey.core.work.task import Task
from covey.ports.store import Transaction
from covey.ports.work import RunFilter, TaskFilter
from tests.properties.draws import CHANNEL, NAMES

ALL = 1_000_000
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
FAR = datetime(2999, 1, 1, tzinfo=UTC)


def comparable(value: object) -> object:
    """Return a result without its sequence numbers and positions."""
    if isinstance(value, DeliveryRecord):
        return value._replace(seq=0)
    if isinstance(value, Event):
        return value._replace(position=0)
    if isinstance(value, tuple | list):
        items = [comparable(item) for item in cast(Sequence[object], value)]
        return (type(cast(object, value)).__name__, *items) if hasattr(cast(Any, value), "_fields") else items
    return value


class Known(NamedTuple):
    """Ids that a story has used and the journal does not list."""

    sessions: Sequence[SessionId]
    offers: Sequence[OfferId]


class Snapshot(NamedTuple):
    """All records of a space at one moment, by id."""

    agents: Sequence[Agent]
    sessions: Mapping[str, Session | None]
    messages: Mapping[MessageId, Message | None]
    deliveries: Mapping[str, DeliveryRecord]
    """Deliveries, with their rank in place of their sequence number."""
    tickets: Mapping[TicketId, Ticket]
    offers: Mapping[str, Offer | None]
    tasks: Mapping[MessageId, Task]
    posts: Mapping[DeliveryId, Post]
    bindings: Sequence[Binding]
    runs: Sequence[Run]
    trees: Sequence[Tree]
    waits: Sequence[Wait]
    listed: Sequence[object]
    """The listings of tasks, posts, runs and trees, in order."""
    events: Sequence[Event]
    """Events without positions."""


async def snapshot(tx: Transaction, known: Known) -> Snapshot:
    """Return all records of a space."""
    events: list[Event] = []
    while page := await tx.journal.read(events[-1].position if events else 0, 1000):
        events.extend(page)
    messages = dict.fromkeys(event.message_id for event in events if event.message_id is not None)
    deliveries = [copy for message_id in messages for copy in await tx.deliveries.of_message(message_id)]
    ranks = {seq: rank for rank, seq in enumerate(sorted(copy.seq for copy in deliveries))}
    return Snapshot(
        agents=list(await tx.agents.all()),
        sessions={session_id: await tx.sessions.get(session_id) for session_id in known.sessions},
        messages={message_id: await tx.messages.get(message_id) for message_id in messages},
        deliveries={copy.id: copy._replace(seq=ranks[copy.seq]) for copy in deliveries},
        tickets={t.id: t for message_id in messages for t in await tx.tickets.of_message(message_id)},
        offers={offer_id: await tx.offers.get(offer_id) for offer_id in known.offers},
        tasks={task.id: task for task in await tx.tasks.find(TaskFilter(), ALL)},
        posts={copy.id: post for copy in deliveries if (post := await tx.posts.get(copy.id)) is not None},
        bindings=await tx.bindings.all(),
        runs=list(await tx.runs.find(RunFilter(), ALL)),
        trees=list(await tx.trees.since(LONG_AGO, ALL)),
        waits=list(await tx.waits.all()),
        listed=[listing async for listing in _listings(tx)],
        events=[event._replace(position=0) for event in events],
    )


async def _listings(tx: Transaction) -> AsyncIterator[Sequence[object]]:
    for name in NAMES:
        yield list(await tx.tasks.pending(name, 3))
        yield list(await tx.tasks.held(name))
        yield list(await tx.tasks.left(name, 3))
    yield list(await tx.tasks.all_held())
    yield list(await tx.tasks.due(FAR, 3))
    yield list(await tx.tasks.untold(3))
    for task in await tx.tasks.find(TaskFilter(), 3):
        yield list(await tx.tasks.children(task.id))
        yield list(await tx.tasks.of_session(task.claimed_by)) if task.claimed_by is not None else ()
    yield list(await tx.posts.due(CHANNEL, FAR, 3))
    yield list(await tx.posts.held(CHANNEL))
    yield list(await tx.runs.untold(3))
    yield list(await tx.runs.uncleared(3))
    for run in await tx.runs.find(RunFilter(has_ended=False), 3):
        yield [await tx.runs.of_session(run.session), await tx.runs.alive(run.parent_agent)]
        yield list(await tx.runs.children(run.parent)) if run.parent is not None else ()
        yield list(await tx.runs.find(RunFilter(agent=run.agent, parent_agent=run.parent_agent), 3))
    yield list(await tx.trees.stopped())
