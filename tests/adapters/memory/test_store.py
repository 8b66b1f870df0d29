"""The memory store needs no event loop and refuses operations that break its rules with a clear error."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

import pytest

from covey.adapters.memory import MemoryStore
from covey.ports.store import Survives, Transaction
from covey.testing.contracts.tables import EVERYTHING, read_everything, write_everything

T = TypeVar("T")


def drive(coroutine: Coroutine[object, object, T]) -> T:
    """Run a coroutine that never suspends, without an event loop."""
    with pytest.raises(StopIteration) as done:
        coroutine.send(None)
    return done.value.value


def test_nothing_suspends() -> None:
    store = MemoryStore()
    drive(store.commit(write_everything))
    assert len(drive(store.read(read_everything))) == EVERYTHING
    drive(store.close())


def test_an_operation_that_waits_for_something_else_is_refused_and_undone() -> None:
    store = MemoryStore()

    async def dawdle(transaction: Transaction) -> None:
        await write_everything(transaction)
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="awaited something else"):
        store.commit(dawdle).send(None)
    assert drive(store.read(read_everything)) == ()


def test_an_operation_that_begins_another_is_refused_and_undone() -> None:
    store = MemoryStore()

    async def nest(transaction: Transaction) -> None:
        await write_everything(transaction)
        await store.commit(write_everything)

    with pytest.raises(RuntimeError, match="began another"):
        store.commit(nest).send(None)
    assert drive(store.read(read_everything)) == ()


def test_a_read_can_not_write() -> None:
    store = MemoryStore()
    with pytest.raises(RuntimeError, match="only an operation of a commit may write"):
        store.read(write_everything).send(None)


def test_a_transaction_is_unusable_after_its_operation() -> None:
    store = MemoryStore()
    kept: list[Transaction] = []

    async def keep(transaction: Transaction) -> None:
        kept.append(transaction)

    drive(store.commit(keep))
    with pytest.raises(RuntimeError, match="only while it runs"):
        write_everything(kept[0]).send(None)


def test_the_memory_store_declares_that_it_survives_nothing() -> None:
    assert MemoryStore().capabilities == (Survives.NOTHING, False, True)
