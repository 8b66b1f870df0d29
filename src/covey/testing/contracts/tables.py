"""Records for the contracts of tables: a write in a commit that is read back twice, and one record in every table."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from covey.core.ledger.delivery import WAITING
from covey.core.ledger.wire import encode
from covey.core.names import session_inbox
from covey.ports.store import Operation, Transaction
from covey.testing.factories import OpenStore, silent
from covey.testing.records import (
    a_binding,
    a_delivery,
    a_flow,
    a_message,
    a_post,
    a_run,
    a_session,
    a_session_id,
    a_task,
    a_ticket,
    a_token,
    a_tree,
    a_wait,
    an_agent,
    an_event,
    an_offer,
)

R = TypeVar("R")
T = TypeVar("T")


async def kept(open_store: OpenStore, write: Operation[object], look: Operation[T]) -> T:
    """Commit `write`, and return the result of a later `look`. The writing transaction must see the same result."""

    async def write_and_look(transaction: Transaction) -> T:
        await write(transaction)
        return await look(transaction)

    async with open_store(silent) as store:
        seen_by_the_writer = await store.commit(write_and_look)
        seen_later = await store.read(look)
    assert seen_later == seen_by_the_writer
    return seen_later


async def each(write: Callable[[R], Awaitable[object]], *records: R) -> None:
    """Write the records in turn."""
    for record in records:
        await write(record)


_INBOX = session_inbox(a_session_id())


async def write_everything(transaction: Transaction) -> None:
    """Write to each table once."""
    await transaction.agents.put(an_agent())
    await transaction.agents.next_number(an_agent().name)
    await transaction.sessions.put(a_session())
    await transaction.tokens.put(a_token())
    await transaction.settings.put("setting", "value")
    await transaction.messages.add(a_message(), encode(a_message()))
    await transaction.deliveries.place(a_delivery(inbox=_INBOX))
    await transaction.offers.put(an_offer())
    await transaction.tickets.put(a_ticket())
    await transaction.tasks.put(a_task())
    await transaction.runs.put(a_run())
    await transaction.trees.put(a_tree())
    await transaction.flows.put(a_flow())
    await transaction.waits.put(a_wait())
    await transaction.posts.put(a_post())
    await transaction.bindings.put(a_binding())
    await transaction.journal.append(an_event())


async def read_everything(transaction: Transaction) -> Sequence[object]:
    """Return the records of `write_everything` that the store has; an empty sequence if it has none."""
    found = (
        await transaction.agents.get(an_agent().name),
        await transaction.sessions.get(a_session().id),
        await transaction.tokens.get(a_token().hash),
        await transaction.settings.get("setting"),
        await transaction.messages.get(a_message().id),
        *await transaction.deliveries.of_message(a_message().id),
        *await transaction.inboxes.waiting(_INBOX, WAITING),
        await transaction.offers.get(an_offer().id),
        await transaction.tickets.get(a_ticket().id),
        await transaction.tasks.get(a_task().id),
        await transaction.runs.get(a_run().id),
        await transaction.trees.get(a_tree().root),
        await transaction.flows.get(a_flow().source, a_flow().target),
        *await transaction.waits.of(a_wait().asker),
        await transaction.posts.get(a_post().id),
        await transaction.bindings.get(a_binding().channel, a_binding().conversation),
        *await transaction.journal.read(0, 10),
    )
    return tuple(record for record in found if record is not None)


EVERYTHING = 17
"""The number of records that `read_everything` returns if all are there."""
