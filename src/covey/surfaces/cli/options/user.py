"""The actor on a whole space: as for every verb, or the machine's user if no agent is named."""

import os
import re
from getpass import getuser

from covey.core.authority import claim
from covey.core.identity import Identity
from covey.core.names import parse_agent_name
from covey.surfaces.cli.call import Call


def actor_or_user(call: Call) -> Identity:
    """Return the acting identity: a token's holder, the session, the named agent or the user.

    The named agent and the user are only claimed.
    """
    return call.actor(None if call.is_identified else _user())


def claimed_or_user(call: Call) -> Identity:
    """Return the named agent or the user, only claimed.

    No session counts here, because the space that it belongs to is replaced.
    """
    name = call.options.agent or os.environ.get("COVEY_AGENT") or _user()
    return claim(parse_agent_name(name))


def _user() -> str:
    try:
        name = re.sub(r"[^A-Za-z0-9_-]", "-", getuser())[:58]
    except (OSError, KeyError):
        name = str(os.getuid())
    return f"user-{name}"
