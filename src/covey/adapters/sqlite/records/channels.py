"""Bindings and posts of channels in SQLite."""

from collections.abc import Sequence
from datetime import datetime

from covey.adapters.sqlite.engine.access import Access, statements
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.records.rows import record_of, to_instant, to_instant_or_none, to_text, to_text_or_null
from covey.core.channels.post import Binding, Post, PostState
from covey.core.identity import parse_address
from covey.core.names import AgentName, DeliveryId

_BINDINGS = statements("bindings")


class SqliteBindings:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, channel: AgentName, conversation: str) -> Binding | None:
        row = self._access.read(_BINDINGS["get"], (channel, conversation)).fetchone()
        return None if row is None else decode_binding(row)

    async def put(self, binding: Binding) -> None:
        row = (binding.channel, binding.conversation, binding.to.value, to_text(binding.bound_at))
        self._access.write(_BINDINGS["put"], row)

    async def remove(self, channel: AgentName, conversation: str) -> None:
        self._access.write(_BINDINGS["remove"], (channel, conversation))

    async def all(self) -> Sequence[Binding]:
        return [decode_binding(row) for row in self._access.read(_BINDINGS["all"])]


@record_of("bindings")
def decode_binding(row: Row) -> Binding:
    """Return the binding of a row."""
    channel, conversation, recipient, bound_at = row
    return Binding(channel, conversation, parse_address(recipient), to_instant(bound_at))


_POSTS = statements("posts")


class SqlitePosts:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, post_id: DeliveryId) -> Post | None:
        row = self._access.read(_POSTS["get"], (post_id,)).fetchone()
        return None if row is None else decode_post(row)

    async def put(self, post: Post) -> None:
        row = (
            post.id,
            post.channel,
            post.conversation,
            post.message_id,
            post.state,
            to_text(post.created_at),
            to_text(post.since),
            to_text_or_null(post.next_at),
            post.attempts,
            post.holder,
            post.error,
        )
        self._access.write(_POSTS["put"], row)

    async def due(self, channel: AgentName, until: datetime, limit: int) -> Sequence[Post]:
        return [decode_post(row) for row in self._access.read(_POSTS["due"], (channel, to_text(until), limit))]

    async def held(self, channel: AgentName) -> Sequence[Post]:
        return [decode_post(row) for row in self._access.read(_POSTS["held"], (channel,))]

    async def head(self, channel: AgentName, conversation: str) -> Post | None:
        row = self._access.read(_POSTS["head"], (channel, conversation)).fetchone()
        return None if row is None else decode_post(row)

    async def find(self, channel: AgentName, state: PostState, limit: int) -> Sequence[Post]:
        newest_first = [decode_post(row) for row in self._access.read(_POSTS["find"], (channel, state, limit))]
        return newest_first[::-1]


@record_of("posts")
def decode_post(row: Row) -> Post:
    """Return the post of a row."""
    post_id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error = row
    return Post(
        post_id,
        channel,
        conversation,
        message_id,
        PostState(state),
        to_instant(created_at),
        to_instant(since),
        to_instant_or_none(next_at),
        attempts,
        holder,
        error,
    )
