"""Jobs for the worker processes of a shared contract, which act on one space at the same time."""

import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from uuid import uuid4

from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState, Move, moved
from covey.core.ledger.event import Event
from covey.core.ledger.message import Kind
from covey.core.ledger.wire import encode
from covey.core.names import AgentName, MessageId, Topic, delivery_id, ticket_id
from covey.ports.clock import Wakeups
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.testing.records import START, a_delivery, a_message, a_ticket, an_event

Tell = Callable[[Json], None]

BOB = AgentName("bob")
INBOX = a_delivery().inbox
PATIENCE = 30.0


async def count(store: Store, tell: Tell, times: str) -> None:
    """Increment a counter, `times` times."""

    async def increment(transaction: Transaction) -> int:
        number = int(await transaction.settings.get("count") or 0) + 1
        await transaction.settings.put("count", str(number))
        return number

    for _ in range(int(times)):
        tell(await store.commit(increment))


async def number(store: Store, tell: Tell, times: str) -> None:
    """Take bob's next number, `times` times."""
    for _ in range(int(times)):
        tell(await store.commit(lambda tx: tx.agents.next_number(BOB)))


async def place(store: Store, tell: Tell, times: str) -> None:
    """Place new deliveries in one inbox, several tasks at once."""

    async def place_one() -> None:
        delivery = a_delivery()._replace(id=delivery_id(new_message_id(), 1))
        placed = await store.commit(lambda tx: tx.deliveries.place(delivery))
        tell([placed.seq, placed.id])

    await asyncio.gather(*(place_one() for _ in range(int(times))))


async def claim(store: Store, tell: Tell) -> None:
    """Take queued deliveries, one after the other, until none is left."""

    async def take(transaction: Transaction) -> DeliveryRecord | None:
        waiting = await transaction.inboxes.waiting(INBOX, {DeliveryState.QUEUED}, limit=1)
        if not waiting:
            return None
        taken = moved(waiting[0], Move.OFFER, START, reason=str(os.getpid()))
        await transaction.deliveries.put(taken)
        return taken

    while (taken := await store.commit(take)) is not None:
        tell(taken.id)


async def append(store: Store, tell: Tell, times: str) -> None:
    """Append events that carry the id of the writing process and its own count."""
    for n in range(int(times)):
        event = an_event(details={"writer": os.getpid(), "n": n})
        await store.commit(lambda tx, event=event: tx.journal.append(event))
        tell([os.getpid(), n])


async def follow(store: Store, tell: Tell, total: str) -> None:
    """Follow the journal until `total` events were seen, or until `PATIENCE` seconds have passed."""
    position, seen, limit = 0, 0, time.monotonic() + PATIENCE
    while seen < int(total) and time.monotonic() < limit:
        events = await store.read(lambda tx, position=position: tx.journal.read(position, 10))
        for event in events:
            position, seen = event.position, seen + 1
            tell([event.position, event.details["writer"], event.details["n"]])
        if not events:
            await asyncio.sleep(0.001)


async def deal(store: Store, tell: Tell) -> None:
    """File messages, each with its related records, until killed. Every other commit is a light one."""
    for is_light in itertools.cycle((False, True)):
        message_id = new_message_id()
        await store.commit(lambda tx, message_id=message_id: deal_one(tx, message_id), is_light=is_light)
        tell(message_id)


async def deal_one(transaction: Transaction, message_id: MessageId) -> None:
    """File one request with its delivery, ticket and event."""
    message = a_message(kind=Kind.REQUEST)._replace(id=message_id, thread=message_id, root=message_id)
    await transaction.messages.add(message, encode(message))
    given = await transaction.agents.next_number(BOB)
    delivery = a_delivery(kind=Kind.REQUEST)._replace(id=delivery_id(message_id, 1), message_id=message_id)
    await transaction.deliveries.place(delivery._replace(number=given))
    await transaction.tickets.put(a_ticket()._replace(id=ticket_id(message_id, BOB), message_id=message_id))
    await transaction.journal.append(_sent(message_id))
    transaction.ring(Topic("dealt"))


def _sent(message_id: MessageId) -> Event:
    return an_event()._replace(message_id=message_id)


def new_message_id() -> MessageId:
    """Return an id that no other process makes."""
    return MessageId(f"{int(START.timestamp()) * 1000}-{uuid4()}")


async def ring(wakeups: Wakeups, tell: Tell, *topics: str) -> None:
    """Ring once."""
    wakeups.ring([Topic(topic) for topic in topics])
    tell("rang")


async def listen(wakeups: Wakeups, tell: Tell, *topics: str) -> None:
    """Listen until killed, and report every ring."""
    async with wakeups.listen([Topic(topic) for topic in topics]) as bell:
        tell("listening")
        while True:
            if await bell.wait(PATIENCE):
                tell("heard")


def hold(liveness: Liveness, tell: Tell) -> None:
    """Take the liveness holder of this process and report it. The worker keeps the holder until killed."""
    tell(list(liveness.hold()))


StoreJob = Callable[..., Awaitable[None]]

STORE_JOBS: Mapping[str, StoreJob] = {job.__name__: job for job in (count, number, place, claim, append, follow, deal)}
WAKEUPS_JOBS: Mapping[str, Callable[..., Awaitable[None]]] = {job.__name__: job for job in (ring, listen)}
LIVENESS_JOBS: Mapping[str, Callable[..., None]] = {"hold": hold}
