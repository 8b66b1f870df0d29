"""The replay of channels: the states of posts, and all bindings of conversations."""

from typing import NamedTuple

from covey.core.details import agree, known, text
from covey.core.errors import IllegalMove
from covey.core.event import Action, Event
from covey.core.ids import DeliveryId
from covey.core.names import AgentName
from covey.core.post import POST_MOVES, PostMove, PostState


class Bound(NamedTuple):
    """A binding of a conversation at some time."""

    channel: AgentName
    conversation: str
    to: str


class ChannelReplay:
    """A fold over the events of channels, oldest first. An event that can't follow the earlier ones raises, and changes
    nothing."""

    def __init__(self) -> None:
        self.posts: dict[DeliveryId, PostState] = {}
        """The posts that have moved. A new post is pending and has no event of its own."""
        self.bound: set[Bound] = set()
        """All bindings that ever were. Two spaces that are merged may both have bound a conversation, so the journal
        does not tell the present one."""
        self.steps = {Action.POST_MOVED: self._moved, Action.CHANNEL_BOUND: self._bound}

    def _moved(self, event: Event) -> None:
        post_id = DeliveryId(text(event.details, "post"))
        before = self.posts.get(post_id, PostState.PENDING)
        move = PostMove(text(event.details, "move"))
        state = POST_MOVES[before].get(move)
        if state is None:
            raise IllegalMove("post", before, move)
        agree(event.details, "from", before)
        agree(event.details, "to", state)
        self.posts[post_id] = state

    def _bound(self, event: Event) -> None:
        details = event.details
        self.bound.add(Bound(known(event.agent, "agent"), text(details, "conversation"), text(details, "to")))
