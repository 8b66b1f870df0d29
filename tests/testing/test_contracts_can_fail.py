"""Stores that are wrong in one way each: the contracts must find every fault, because a contract that can't fail proves
nothing."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import pytest

from covey.adapters.memory import MemoryStore, MemoryWakeups
from covey.core.names import Topic
from covey.ports.store import Operation, Store
from covey.testing import OpenStore, OpenWakeups, Ring, closing
from covey.testing.contracts import StoreContract, WakeupsContract

T = TypeVar("T")


class NeverUndoes(MemoryStore):
    """Keeps the writes of a failed operation."""

    def __init__(self, ring: Ring) -> None:
        super().__init__(ring)
        self._log.undo = self._log.keep


class RingsTooEarly(MemoryStore):
    """Rings while the operation runs."""

    def __init__(self, ring: Ring) -> None:
        super().__init__(ring)

        def ring_now(topic: Topic) -> None:
            ring([topic])

        self._transaction.ring = ring_now


class NotSerial(MemoryStore):
    """Lets commits of several tasks overlap, so that they see old values."""

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        before = dict[str, str]()
        for name in ("left", "right"):
            before[name] = await self._transaction.settings.get(name) or "0"
        await asyncio.sleep(0)

        async def on_what_was_before(transaction: Any) -> T:
            for name, value in before.items():
                await transaction.settings.put(name, value)
            return await operation(transaction)

        return await super().commit(on_what_was_before)


class StaysOpen(MemoryStore):
    """Works on after it was closed."""

    async def close(self) -> None: ...


def opening(store: Callable[[Ring], MemoryStore]) -> OpenStore:
    def open_store(ring: Ring) -> AbstractAsyncContextManager[Store]:
        return closing(store(ring))

    return open_store


contract = StoreContract()


@pytest.mark.parametrize(
    ("test", "store"),
    [
        (contract.test_an_operation_that_raises_leaves_nothing, NeverUndoes),
        (contract.test_an_operation_that_raises_changes_nothing_that_was_there, NeverUndoes),
        (contract.test_a_failed_commit_takes_no_other_with_it, NeverUndoes),
        (contract.test_topics_ring_once_the_commit_stands, RingsTooEarly),
        (contract.test_nothing_rings_for_a_commit_that_failed, RingsTooEarly),
        (contract.test_commits_are_serial, NotSerial),
        (contract.test_after_closing_everything_is_store_closed, StaysOpen),
    ],
)
def test_a_store_that_is_wrong_is_found_out(
    test: Callable[[OpenStore], Coroutine[Any, Any, None]], store: Callable[[Ring], MemoryStore]
) -> None:
    asyncio.run(test(opening(MemoryStore)))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        asyncio.run(test(opening(store)))


class WakesEverybody(MemoryWakeups):
    def ring(self, topics: Collection[Topic]) -> None:
        super().ring([*self._bells])


class WakesNobody(MemoryWakeups):
    def ring(self, topics: Collection[Topic]) -> None: ...


@pytest.mark.parametrize(
    ("name", "wakeups"),
    [("test_nobody_else_is_woken", WakesEverybody), ("test_a_ring_between_two_waits_is_kept", WakesNobody)],
)
def test_wakeups_that_are_wrong_are_found_out(
    monkeypatch: pytest.MonkeyPatch, name: str, wakeups: Callable[[], MemoryWakeups]
) -> None:
    monkeypatch.setattr("covey.testing.contracts.system.SOON", 0.05)
    test: Callable[[OpenWakeups], Coroutine[Any, Any, None]] = getattr(WakeupsContract(), name)
    with pytest.raises(AssertionError):
        asyncio.run(test(lambda: closing(wakeups())))
