"""The channel: the transport of posts to people."""

from typing import Protocol

from covey.core.post import Outgoing, Posted, Refused


class Channel(Protocol):
    """A transport that carries posts to people, at least once.

    A post may be carried more than once: if its answer was lost, or the process that carried it died. Its id is the
    same each time, so that a receiver can ignore a repetition.
    """

    async def post(self, outgoing: Outgoing) -> Posted | Refused:
        """Carry one post, and return whether the receiver accepted it. A failure of the receiver or of the connection
        is a `Refused` and not an error. The call always ends, well within `covey.core.limits.POST_LEASE`."""
        ...
