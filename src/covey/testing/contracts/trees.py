"""Contract of causal trees."""

from datetime import timedelta

from covey.core.echo import Talk
from covey.core.storm import Limit, Tree
from covey.ports.store import Transaction
from covey.testing.contracts.kept import each, kept
from covey.testing.opening import OpenStore
from covey.testing.records import a_message_id, a_tree, at

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
