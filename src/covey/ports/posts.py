"""Posts and bindings as records in a transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from covey.core.binding import Binding
from covey.core.ids import DeliveryId
from covey.core.names import AgentName
from covey.core.post import Post, PostState


class Posts(Protocol):
    """What is to be carried to people, by the delivery's id. What is due, first or held costs nothing for those that
    are done with or wait behind others."""

    async def get(self, post_id: DeliveryId) -> Post | None:
        """Return the post, done with or not, or None."""
        ...

    async def put(self, post: Post) -> None:
        """Add the post, or replace what is known of it."""
        ...

    async def due(self, channel: AgentName, until: datetime, limit: int) -> Sequence[Post]:
        """Return the first `limit` pending posts of the channel that have a `next_at` by `until`: by that time, then as
        they were first put."""
        ...

    async def held(self, channel: AgentName) -> Sequence[Post]:
        """Return the pending posts of the channel that have a holder, as they were first put."""
        ...

    async def head(self, channel: AgentName, conversation: str) -> Post | None:
        """Return the pending post of the conversation that was first put before all others, or None."""
        ...

    async def find(self, channel: AgentName, state: PostState, limit: int) -> Sequence[Post]:
        """Return the `limit` posts of the channel in that state that were first put last, as they were first put."""
        ...


class Bindings(Protocol):
    """Which conversation is bound to whom."""

    async def get(self, channel: AgentName, conversation: str) -> Binding | None:
        """Return the binding of that very conversation, or None."""
        ...

    async def put(self, binding: Binding) -> None:
        """Add the binding, or put it in the place of the conversation's other one."""
        ...

    async def remove(self, channel: AgentName, conversation: str) -> None:
        """Remove the binding of the conversation, if there is one."""
        ...

    async def all(self) -> Sequence[Binding]:
        """Return every binding, by channel, then by conversation."""
        ...
