"""Posts in SQLite."""

from collections.abc import Sequence
from datetime import datetime

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.connection import Row
from covey.adapters.sqlite.records import record_of
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.values import to_instant, to_instant_or_none, to_text, to_text_or_null
from covey.core.ids import DeliveryId
from covey.core.names import AgentName
from covey.core.post import Post, PostState

_SQL = statements("posts")


class SqlitePosts:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, post_id: DeliveryId) -> Post | None:
        row = self._access.read(_SQL["get"], (post_id,)).fetchone()
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
        self._access.write(_SQL["put"], row)

    async def due(self, channel: AgentName, until: datetime, limit: int) -> Sequence[Post]:
        return [decode_post(row) for row in self._access.read(_SQL["due"], (channel, to_text(until), limit))]

    async def held(self, channel: AgentName) -> Sequence[Post]:
        return [decode_post(row) for row in self._access.read(_SQL["held"], (channel,))]

    async def head(self, channel: AgentName, conversation: str) -> Post | None:
        row = self._access.read(_SQL["head"], (channel, conversation)).fetchone()
        return None if row is None else decode_post(row)

    async def find(self, channel: AgentName, state: PostState, limit: int) -> Sequence[Post]:
        newest_first = [decode_post(row) for row in self._access.read(_SQL["find"], (channel, state, limit))]
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
