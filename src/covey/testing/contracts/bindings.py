"""Contract of bindings."""

from covey.core.names import AgentName
from covey.ports.store import Transaction
from covey.testing.contracts.kept import each, kept
from covey.testing.opening import OpenStore
from covey.testing.records import a_binding, a_session_id, at

OPS = AgentName("ops")


class BindingsContract:
    """Fixture: `open_store`."""

    async def test_a_binding_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        for to in ("bob", "agent:bob:main", a_session_id(7)):
            binding = a_binding("语 ' \n 🐦", to=to)._replace(bound_at=at(5.5))
            found = await kept(
                open_store,
                lambda tx, binding=binding: tx.bindings.put(binding),
                lambda tx: tx.bindings.get(OPS, "语 ' \n 🐦"),
            )
            assert found == binding

    async def test_only_that_very_conversation_is_bound(self, open_store: OpenStore) -> None:
        async def look(transaction: Transaction) -> list[object]:
            asked = ((OPS, "c-1"), (OPS, ""), (OPS, "c-2"), (AgentName("other"), "c-1"))
            return [await transaction.bindings.get(*one) for one in asked]

        found = await kept(open_store, lambda tx: tx.bindings.put(a_binding()), look)
        assert found == [a_binding(), None, None, None]

    async def test_binding_it_again_takes_the_place_of_the_first(self, open_store: OpenStore) -> None:
        again = a_binding(to="eve")
        found = await kept(
            open_store, lambda tx: each(tx.bindings.put, a_binding(), again), lambda tx: tx.bindings.all()
        )
        assert [*found] == [again]

    async def test_a_binding_is_removed_alone_and_twice_without_harm(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            await each(transaction.bindings.put, a_binding("c-1"), a_binding("c-2"))
            for _ in range(2):
                await transaction.bindings.remove(OPS, "c-1")

        assert [*await kept(open_store, write, lambda tx: tx.bindings.all())] == [a_binding("c-2")]

    async def test_all_bindings_are_given_by_channel_then_by_conversation(self, open_store: OpenStore) -> None:
        bindings = [a_binding("b", channel="z"), a_binding(""), a_binding("b"), a_binding("a", channel="z")]
        found = await kept(open_store, lambda tx: each(tx.bindings.put, *bindings), lambda tx: tx.bindings.all())
        assert [(b.channel, b.conversation) for b in found] == [("ops", ""), ("ops", "b"), ("z", "a"), ("z", "b")]
