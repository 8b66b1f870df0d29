"""A store that dies at a given point."""

import pytest

from covey.adapters.memory import MemoryStore
from covey.core.errors import CoveyError
from covey.core.names import Topic
from covey.ports.store import Store, Transaction
from covey.testing import Death, DeathMoment, Died, DyingStore, deaths
from covey.testing.contracts.tables import EVERYTHING, read_everything, write_everything


async def put_two(transaction: Transaction) -> str:
    await transaction.settings.put("a", "1")
    assert await transaction.settings.get("a") == "1"
    await transaction.settings.put("b", "2")
    transaction.ring(Topic("rung"))
    return "done"


async def settings(store: Store) -> list[str | None]:
    async def look(transaction: Transaction) -> list[str | None]:
        return [await transaction.settings.get("a"), await transaction.settings.get("b")]

    return await store.read(look)


async def test_without_a_death_it_works_like_the_store_and_counts_the_writes() -> None:
    store = DyingStore(MemoryStore())
    assert await store.commit(put_two) == "done"
    await store.commit(write_everything)
    assert await settings(store) == ["1", "2"]
    assert len(await store.read(read_everything)) == EVERYTHING
    assert store.writes == [2, 17]
    assert store.capabilities == MemoryStore().capabilities


@pytest.mark.parametrize(
    ("death", "left"),
    [
        (Death(1, DeathMoment.BEFORE), [None, None]),
        (Death(1, DeathMoment.WITHIN, 1), [None, None]),
        (Death(1, DeathMoment.WITHIN, 2), [None, None]),
        (Death(1, DeathMoment.AFTER), ["1", "2"]),
    ],
)
async def test_the_store_dies_at_its_point_and_refuses_everything_afterwards(
    death: Death, left: list[str | None]
) -> None:
    rung: list[object] = []
    beneath = MemoryStore(rung.append)
    store = DyingStore(beneath, death)
    with pytest.raises(Died):
        await store.commit(put_two)
    with pytest.raises(Died):
        await store.commit(put_two)
    with pytest.raises(Died):
        await store.read(read_everything)
    assert await settings(beneath) == left
    assert bool(rung) == (death.moment is DeathMoment.AFTER)


async def test_the_store_dies_in_the_given_commit() -> None:
    beneath = MemoryStore()
    store = DyingStore(beneath, Death(2, DeathMoment.WITHIN, 1))
    await store.commit(put_two)
    with pytest.raises(Died):
        await store.commit(write_everything)
    assert await settings(beneath) == ["1", "2"]
    assert await beneath.read(read_everything) == ()


async def test_every_death_of_a_run_is_tried_once() -> None:
    async def run(store: Store) -> None:
        await store.commit(put_two)
        await store.commit(put_two)

    first = DyingStore(MemoryStore())
    await run(first)
    tried = [*deaths(first.writes)]
    assert len(set(tried)) == len(tried) == 2 * (1 + 2 + 1)
    for death in tried:
        with pytest.raises(Died):
            await run(DyingStore(MemoryStore(), death))


async def test_a_dead_store_can_be_closed() -> None:
    store = DyingStore(MemoryStore(), Death(1, DeathMoment.BEFORE))
    with pytest.raises(Died):
        await store.commit(put_two)
    await store.close()


def test_a_death_is_no_covey_error() -> None:
    assert not issubclass(Died, CoveyError)
