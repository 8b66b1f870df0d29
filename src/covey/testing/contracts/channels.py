"""Contracts of bindings and posts."""

from collections.abc import Sequence

from covey.core.channels.post import Post, PostState
from covey.core.names import AgentName, DeliveryId
from covey.ports.store import Operation, Transaction
from covey.testing.contracts.tables import each, kept
from covey.testing.factories import OpenStore
from covey.testing.records import a_binding, a_post, a_session_id, at

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


def putting(*posts: Post) -> Operation[None]:
    return lambda tx: each(tx.posts.put, *posts)


def ids(posts: Sequence[Post]) -> Sequence[DeliveryId]:
    return [post.id for post in posts]


class PostsContract:
    """Fixture: `open_store`."""

    async def test_a_post_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        post = a_post(conversation="语 ' \n 🐦", next_at=at(5.5), holder="lock")._replace(
            since=at(3), attempts=41, error="500 from the receiver"
        )
        assert await kept(open_store, putting(post), lambda tx: tx.posts.get(post.id)) == post

    async def test_a_post_that_nobody_made_is_none(self, open_store: OpenStore) -> None:
        assert await kept(open_store, putting(a_post(1)), lambda tx: tx.posts.get(a_post(2).id)) is None

    async def test_putting_it_again_replaces_what_is_known_of_it(self, open_store: OpenStore) -> None:
        done = a_post(state=PostState.DELIVERED, next_at=None)
        assert await kept(open_store, putting(a_post(), done), lambda tx: tx.posts.get(done.id)) == done

    async def test_due_are_the_pending_ones_by_their_time(self, open_store: OpenStore) -> None:
        late, soon, same = a_post(1, next_at=at(9)), a_post(2, next_at=at(3)), a_post(3, next_at=at(9))
        others = (
            a_post(4, next_at=None),
            a_post(5, next_at=at(10)),
            a_post(6, channel="other", next_at=at(1)),
            a_post(7, state=PostState.FAILED, next_at=at(1)),
        )
        again = late._replace(attempts=1)
        found = await kept(
            open_store, putting(late, soon, same, *others, again), lambda tx: tx.posts.due(OPS, at(9), 9)
        )
        assert [*found] == [soon, again, same]

    async def test_only_so_many_are_given_as_due(self, open_store: OpenStore) -> None:
        posts = [a_post(n, next_at=at(n)) for n in (3, 1, 2)]
        found = await kept(open_store, putting(*posts), lambda tx: tx.posts.due(OPS, at(9), 2))
        assert ids(found) == [a_post(1).id, a_post(2).id]

    async def test_held_are_the_pending_ones_that_somebody_has(self, open_store: OpenStore) -> None:
        held = [a_post(1, holder="a", next_at=at(9)), a_post(2, holder="b", next_at=at(3))]
        others = a_post(3), a_post(4, channel="other", holder="a"), a_post(5, holder="a", state=PostState.DELIVERED)
        found = await kept(open_store, putting(*held, *others), lambda tx: tx.posts.held(OPS))
        assert [*found] == held

    async def test_the_head_of_a_conversation_is_its_first_pending_one(self, open_store: OpenStore) -> None:
        async def look(transaction: Transaction) -> list[Post | None]:
            return [await transaction.posts.head(OPS, conversation) for conversation in ("c-1", "", "nowhere")]

        posts = [a_post(n, next_at=None) for n in (3, 1, 2)]
        own, elsewhere = a_post(4, conversation=""), a_post(5, channel="other", conversation="nowhere")
        done = posts[0]._replace(state=PostState.DELIVERED)
        found = await kept(open_store, putting(*posts, own, elsewhere, done), look)
        assert found == [posts[1], own, None]

    async def test_a_post_that_is_pending_again_stands_where_it_was(self, open_store: OpenStore) -> None:
        first, second = a_post(1, next_at=None), a_post(2, next_at=None)
        failed = first._replace(state=PostState.FAILED)
        found = await kept(open_store, putting(first, second, failed, first), lambda tx: tx.posts.head(OPS, "c-1"))
        assert found == first

    async def test_those_in_a_state_are_given_as_they_were_put_the_newest_of_them(self, open_store: OpenStore) -> None:
        failed = [a_post(n, state=PostState.FAILED, next_at=None) for n in (2, 3, 1)]
        others = a_post(4), a_post(5, channel="other", state=PostState.FAILED)
        found = await kept(open_store, putting(*failed, *others), lambda tx: tx.posts.find(OPS, PostState.FAILED, 2))
        assert [*found] == failed[1:]
