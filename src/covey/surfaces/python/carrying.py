"""Delivery of posts to people, in the Python API."""

import logging
import sys
from collections.abc import Callable

from covey.composition import carriers
from covey.core.channels.post import Outgoing, Post, PostState
from covey.core.checks import flag, function, items
from covey.core.names import parse_agent_name
from covey.runtime.channels.running import Listeners, run_channels
from covey.services.space import Services

TellPost = Callable[[Outgoing], None]
"""Called after each attempt, with the message and the post as the attempt left it."""

_log = logging.getLogger("covey")


async def carry_posts(services: Services, channels: object, once: object, tell: TellPost | None) -> bool:
    """Carry the posts of these channels, or of all; return whether every attempted post was delivered."""
    names = [channels] if isinstance(channels, str) else items(channels, "channels", "use a list of names")
    parsed = [parse_agent_name(name) for name in names]
    ends = flag(once, "once")
    told = None if tell is None else function(tell, "tell")
    is_all_taken = True

    def posted(outgoing: Outgoing, after: Post) -> None:
        nonlocal is_all_taken
        is_all_taken &= after.state is PostState.DELIVERED
        if told is not None:
            told(outgoing._replace(post=after))

    await run_channels(services, parsed, carriers(sys.stdout), Listeners(posted, _ignore, _warn, _ignore), once=ends)
    return is_all_taken


def _warn(message: str) -> None:
    _log.warning("carrying posts: %s", message)


def _ignore(*_: object) -> None:
    """Ignore an event: this API reports attempts to post, and nothing else."""
