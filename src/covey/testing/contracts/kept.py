"""Shared helpers of the table contracts: a write in a commit, read back twice."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from covey.ports.store import Operation, Transaction
from covey.testing.opening import OpenStore, silent

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
