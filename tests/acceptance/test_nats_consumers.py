"""Consumers on several machines: a killed consumer holds nothing back, and each task has one taker."""

import json
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

import covey
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action
from covey.core.names import AgentName
from covey.ports.ledger import EventFilter
from tests.chaos.nats_consumer import consumer, said
from tests.nats.servers import NatsServer, one_node

LIMIT_S = 30.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[NatsServer]:
    with one_node(tmp_path_factory.mktemp("server")) as running:
        yield running


async def test_a_delivery_offered_to_a_dead_consumer_is_offered_to_the_next(server: NatsServer, tmp_path: Path) -> None:
    here, there = (f"{server.url}/killed?cache={tmp_path / machine}" for machine in ("here", "there"))
    async with covey.open(there) as space:
        ann = await space.join("ann")
        await space.services.directory.register(AgentName("bob"), covey.Card(), ann.identity)
        asked = await ann.send("bob", "is it there?", kind="request", scope="scope")
        task = await ann.delegate("bob", "do it")
        with consumer("hold", here) as first:
            held = json.loads(said(first))
            first.kill()
            first.wait(LIMIT_S)
        assert held == {"offered": [asked.message_id], "task": task.id}
        with consumer("hold", here) as second:
            assert json.loads(said(second)) == held
            # A space sees all records when it is opened. An open space sees a record when it arrives.
            async with covey.open(there) as now:
                (debt,) = await now.services.dialogue.owed_by(AgentName("bob"))
                assert debt.message_id == asked.message_id
                (copy,) = (await now.receipt(asked.message_id)).deliveries
                assert copy.state is DeliveryState.OFFERED
                assert (await now.services.tasks.view(task.id)).task.attempt == 2
                assert await now.services.audit.check() == []


async def test_six_consumers_on_three_machines_take_each_task_once(server: NatsServer, tmp_path: Path) -> None:
    count = 24
    machines = [f"{server.url}/claims?cache={tmp_path / str(n)}" for n in range(3)]
    async with covey.open(machines[0]) as space:
        ann = await space.join("ann")
        card = covey.Card(quota=count)
        await space.services.directory.register(AgentName("bob"), card, ann.identity)
        for n in range(count):
            await ann.delegate("bob", f"task {n}")
        with ExitStack() as stack:
            takers = [stack.enter_context(consumer("take", machines[n % 3])) for n in range(6)]
            assert {said(taker) for taker in takers} == {"ready"}
            for taker in takers:
                assert taker.stdin is not None
                taker.stdin.write("go\n")
                taker.stdin.flush()
            taken = [json.loads(said(taker)) for taker in takers]
        tasks = [tuple(task) for mine in taken for task in mine]
        assert len(tasks) == len(set(tasks)) == count
        assert {attempt for _, attempt in tasks} == {1}
        assert sum(map(bool, taken)) > 1, "nobody else came to take any"
    async with covey.open(machines[0]) as now:
        moves = await now.services.history.read(0, 1000, EventFilter(action=Action.TASK_MOVED))
        assert [move.details["move"] for move in moves].count("accept") == count
        assert await now.services.audit.check() == []
