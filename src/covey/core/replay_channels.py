"""The replay of channels: what became of posts, and which conversations were ever bound to whom."""

from typing import NamedTuple

from covey.core.details import agree, known, text
from covey.core.errors import IllegalMove
from covey.core.event import Action, Event
from covey.core.ids import DeliveryId
from covey.core.names import AgentName
from covey.core.post import POST_MOVES, PostMove, PostState


class Bound(NamedTuple):
    """That a conversation was bound to somebody, at some time."""

    channel: AgentName
    conversation: str
    to: str


class ChannelReplay:
    """Folds the events of channels, oldest first. One that can't follow those before it raises, and changes nothing."""

    def __init__(self) -> None:
        self.posts: dict[DeliveryId, PostState] = {}
        """Those that have moved: a post begins with its delivery, pending, and no event of its own tells of that."""
        self.bound: set[Bound] = set()
        """Two spaces that become one may both have bound a conversation, so only this is known for sure."""
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
