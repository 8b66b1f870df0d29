"""Bindings and posts of channels in memory."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice, takewhile

from covey.adapters.memory.table import Order, Shelf, Table, UndoLog
from covey.core.channels.post import Binding, Post, PostState
from covey.core.names import AgentName, DeliveryId


class MemoryBindings:
    def __init__(self, log: UndoLog) -> None:
        self._bindings = Table[str, Binding](log)

    async def get(self, channel: AgentName, conversation: str) -> Binding | None:
        return self._bindings.get(_binding_key(channel, conversation))

    async def put(self, binding: Binding) -> None:
        self._bindings.put(_binding_key(binding.channel, binding.conversation), binding)

    async def remove(self, channel: AgentName, conversation: str) -> None:
        if self._bindings.get(_binding_key(channel, conversation)) is not None:
            self._bindings.remove(_binding_key(channel, conversation))

    async def all(self) -> Sequence[Binding]:
        return sorted(self._bindings.all(), key=lambda binding: (binding.channel, binding.conversation))


def _binding_key(channel: AgentName, conversation: str) -> str:
    return f"{channel} {conversation}"


def _post_places(post: Post) -> Iterable[tuple[Shelf, Order]]:
    """Yield the shelves of a post. Equal orders keep posts in the order of their first put."""
    yield ("state", post.channel, post.state), 0
    if post.state is not PostState.PENDING:
        return
    yield ("conversation", post.channel, post.conversation), 0
    if post.next_at is not None:
        yield ("due", post.channel), post.next_at
    if post.holder is not None:
        yield ("held", post.channel), 0


class MemoryPosts:
    def __init__(self, log: UndoLog) -> None:
        self.table = Table[DeliveryId, Post](log, _post_places)

    async def get(self, post_id: DeliveryId) -> Post | None:
        return self.table.get(post_id)

    async def put(self, post: Post) -> None:
        self.table.put(post.id, post)

    async def due(self, channel: AgentName, until: datetime, limit: int) -> Sequence[Post]:
        by_time = self.table.in_order(("due", channel))
        return [*islice(takewhile(lambda post: post.next_at is not None and post.next_at <= until, by_time), limit)]

    async def held(self, channel: AgentName) -> Sequence[Post]:
        return self.table.on(("held", channel))

    async def head(self, channel: AgentName, conversation: str) -> Post | None:
        return next(self.table.in_order(("conversation", channel, conversation)), None)

    async def find(self, channel: AgentName, state: PostState, limit: int) -> Sequence[Post]:
        found = self.table.on(("state", channel, state))
        return found[max(0, len(found) - limit) :]
