"""A worker that dies after any write: its move and the update are both committed, or neither is, and the next worker
continues."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind
from covey.ports.store import Store
from covey.services.care.audit import Audit
from covey.testing.faults import Death, Died, DyingStore, deaths
from tests.scenarios.stores import in_memory, on_sqlite
from tests.scenarios.world import OpenStore, World


async def story(world: World, death: Death | None) -> Sequence[int]:
    """Delegate a task.

    The first worker dies at the given point, and the next one does the rest. Return the number of writes of each commit
    of the first worker; its first commit is the join.
    """
    (alice,) = await world.join("alice")
    stores: list[DyingStore] = []

    def dying(store: Store) -> Store:
        stores.append(DyingStore(store, death))
        return stores[0]

    first = await world.process(dying).join("bob")
    assert len(stores[0].writes) == 1
    task = await alice.delegate("bob", "write the parser")
    try:
        work = await first.take(timeout=0)
        assert work is not None
        await work.start()
        await work.progress("half")
        await work.complete("done")
    except Died:
        world.kill(first)
        await world.tend()
        (second,) = await world.join("bob")
        again = await second.take(timeout=0)
        if again is not None:
            if again.state != "working":
                await again.start()
            await again.complete("done")
    assert (await task.refresh()).state == "completed"
    moves = await world.events(Action.TASK_MOVED)
    updates = [event for event in await world.events(Action.MESSAGE_SENT) if event.details["kind"] == Kind.UPDATE]
    told = [event.message_id for event in updates]
    assert [event.details["update"] for event in moves if event.details["update"] not in told] == []
    names = [str(event.details["move"]) for event in moves]
    assert [name for name in names if name != "progress"] == ["accept", "start", "complete"]
    # Besides the moves, the delegator is notified at most once that no session works on the task.
    assert 0 <= len(updates) - len(moves) <= 1
    assert await Audit(world.observer.store).check() == []
    return stores[0].writes


@pytest.mark.requirement("mailbox.task.lifecycle")
@pytest.mark.parametrize("engine", ["memory", "sqlite"])
async def test_each_move_is_reported_once_wherever_the_worker_dies(engine: str, tmp_path: Path) -> None:
    def opening(name: str) -> OpenStore:
        folder = tmp_path / name
        folder.mkdir()
        return in_memory() if engine == "memory" else on_sqlite(folder)

    world = World(opening("whole"))
    writes = await story(world, None)
    await world.close()
    tried = 0
    for death in deaths(writes):
        if death.commit == 1:
            continue
        world = World(opening(f"death-{tried}"))
        await story(world, death)
        await world.close()
        tried += 1
    assert tried > len(writes) * 3
