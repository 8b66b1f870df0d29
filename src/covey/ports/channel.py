"""The channel: what carries a post to the people of one place."""

from typing import Protocol

from covey.core.post import Outgoing, Posted, Refused


class Channel(Protocol):
    """Carries posts to where people read them.

    A post may be carried more than once: when its answer was lost, or whoever carried it died. Its id is the same each
    time, and a receiver that knows ids takes it once.
    """

    async def post(self, outgoing: Outgoing) -> Posted | Refused:
        """Carry one post, and say whether the receiver took it. It does not raise for what the receiver or the way to
        it does; it always ends, well before `covey.core.limits.POST_LEASE` does."""
        ...
