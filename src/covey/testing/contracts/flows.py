"""Contract of flows between agents."""

from covey.core.flow import Flow, Party
from covey.ports.store import Transaction
from covey.testing.contracts.kept import each, kept
from covey.testing.opening import OpenStore
from covey.testing.records import a_flow, at

ALICE = Party("alice")


class FlowsContract:
    """Fixture: `open_store`."""

    async def test_a_flow_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        full = Flow(ALICE, Party("session:1"), at(1.5), (9, 7, 3), 7, 12, ("00000000abcd", "1234abcd"))
        for flow in (a_flow(), full):
            found = await kept(
                open_store,
                lambda tx, flow=flow: tx.flows.put(flow),
                lambda tx, flow=flow: tx.flows.get(flow.source, flow.target),
            )
            assert found == flow

    async def test_there_is_no_flow_before_it_is_put_and_putting_it_again_replaces_it(
        self, open_store: OpenStore
    ) -> None:
        again = a_flow()._replace(exchanged=5, samples=(4,))

        async def look(transaction: Transaction) -> list[Flow | None]:
            pairs = ((again.source, again.target), (again.target, again.source))
            return [await transaction.flows.get(source, target) for source, target in pairs]

        found = await kept(open_store, lambda tx: each(tx.flows.put, a_flow(), again), look)
        assert found == [again, None]

    async def test_strongest_are_those_of_the_source_that_exchanged_most_then_by_target(
        self, open_store: OpenStore
    ) -> None:
        flows = [a_flow(to=to)._replace(exchanged=n) for to, n in (("bob", 1), ("eve", 7), ("dan", 1), ("carol", 0))]

        async def look(transaction: Transaction) -> list[list[str]]:
            found = [await transaction.flows.strongest(ALICE, limit) for limit in (10, 2)]
            return [[flow.target for flow in some] for some in found]

        other = a_flow(source="bob", to="alice")
        found = await kept(open_store, lambda tx: each(tx.flows.put, *flows, other), look)
        assert found == [["eve", "bob", "dan", "carol"], ["eve", "bob"]]

    async def test_removing_removes_the_flows_of_a_source_and_of_none_nothing(self, open_store: OpenStore) -> None:
        other = a_flow(source="bob", to="alice")

        async def write(transaction: Transaction) -> None:
            await each(transaction.flows.put, a_flow(to="bob"), a_flow(to="eve"), other)
            await each(transaction.flows.remove, ALICE, Party("nobody"))

        async def look(transaction: Transaction) -> list[Flow]:
            return [flow for name in (ALICE, Party("bob")) for flow in await transaction.flows.strongest(name, 10)]

        assert await kept(open_store, write, look) == [other]

    async def test_forgetting_removes_what_stood_still_as_many_as_wanted(self, open_store: OpenStore) -> None:
        flows = [a_flow(to=f"b{n}")._replace(at=at(n)) for n in (1, 2, 3, 9)]
        counts: list[int] = []

        async def write(transaction: Transaction) -> None:
            counts.clear()
            await each(transaction.flows.put, *flows)
            for limit in (2, 2, 2):
                counts.append(await transaction.flows.forget(at(9), limit))

        found = await kept(open_store, write, lambda tx: tx.flows.strongest(ALICE, 10))
        assert counts == [2, 1, 0]
        assert [*found] == [flows[3]]
