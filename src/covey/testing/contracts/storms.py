"""Contracts of causal trees and flows."""

from datetime import timedelta

from covey.core.storms.budget import Limit, Tree
from covey.core.storms.echo import Talk
from covey.core.storms.flow import Flow, Party
from covey.ports.store import Transaction
from covey.testing.contracts.tables import each, kept
from covey.testing.factories import OpenStore
from covey.testing.records import a_flow, a_message_id, a_tree, at

ECHO = Talk("alice bob", {"alice": 4, "bob": 5}, ("00000000abcd", "1234abcd"), at(7.5), 3)


class TreesContract:
    """Fixture: `open_store`."""

    async def test_a_tree_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        full = Tree(a_message_id(2), at(1.5), at(2.5), 5, 4, 3, 2, 1, Limit.DEPTH, at(3.5), (ECHO, Talk("*")))
        for tree in (a_tree(), full):
            found = await kept(
                open_store,
                lambda tx, tree=tree: tx.trees.put(tree),
                lambda tx, tree=tree: tx.trees.get(tree.root),
            )
            assert found == tree

    async def test_there_is_no_tree_before_it_is_put_and_putting_it_again_replaces_it(
        self, open_store: OpenStore
    ) -> None:
        async def look(transaction: Transaction) -> list[Tree | None]:
            return [await transaction.trees.get(a_message_id(n)) for n in (1, 2)]

        again = a_tree()._replace(messages=9, talks=(ECHO,))
        found = await kept(open_store, lambda tx: each(tx.trees.put, a_tree(), again), look)
        assert found == [again, None]

    async def test_stopped_are_those_at_a_limit_or_with_an_echo_the_latest_first(self, open_store: OpenStore) -> None:
        by_limit = a_tree(1, grew_at=at(5))._replace(stopped=Limit.MESSAGES, stopped_at=at(5))
        by_echo = a_tree(2, grew_at=at(9))._replace(talks=(Talk("alice carol"), ECHO))
        going_on = a_tree(3, grew_at=at(7))._replace(talks=(Talk("alice bob", {"alice": 3}),))
        lifted = a_tree(4, grew_at=at(8))
        trees = (by_limit, by_echo, going_on, lifted._replace(stopped=Limit.HOURS, stopped_at=at(8)), lifted)
        found = await kept(open_store, lambda tx: each(tx.trees.put, *trees), lambda tx: tx.trees.stopped())
        assert [*found] == [by_echo, by_limit]

    async def test_since_gives_those_that_grew_at_that_time_or_later_the_latest_first_as_many_as_wanted(
        self, open_store: OpenStore
    ) -> None:
        trees = [a_tree(n, grew_at=at(n)) for n in (3, 1, 4, 2)]

        async def look(transaction: Transaction) -> list[list[int]]:
            found = [await transaction.trees.since(at(2), limit) for limit in (10, 2)]
            return [[tree.depth for tree in some] for some in found]

        assert await kept(open_store, lambda tx: each(tx.trees.put, *trees), look) == [[4, 3, 2], [4, 3]]

    async def test_forgetting_removes_what_is_old_and_not_stopped_as_many_as_wanted(
        self, open_store: OpenStore
    ) -> None:
        trees = [a_tree(n, grew_at=at(n)) for n in (1, 2, 3, 9)]
        stopped = a_tree(5, grew_at=at(1))._replace(stopped=Limit.DEPTH, stopped_at=at(1))
        counts: list[int] = []

        async def write(transaction: Transaction) -> None:
            counts.clear()
            await each(transaction.trees.put, *trees, stopped)
            for limit in (2, 2, 2):
                counts.append(await transaction.trees.forget(at(9), limit))

        found = await kept(open_store, write, lambda tx: tx.trees.since(at(0) - timedelta(days=1), 10))
        assert counts == [2, 1, 0]
        assert [*found] == [trees[3], stopped]


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
