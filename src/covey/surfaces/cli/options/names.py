"""References to messages, and the actor on a whole space.

A message is named by its id, or by its number in the inbox of the acting agent (3) or of any other one (coder:3).
"""

import os
import re
from argparse import SUPPRESS, ArgumentParser

from covey.core.authority import claim
from covey.core.errors import NumberUnknown
from covey.core.identity import Identity
from covey.core.names import AgentName, MessageId, parse_agent_name, parse_message_id
from covey.surfaces.cli.call import Call

DIGITS = 15
"""Maximum number of digits of a number in an inbox."""

MESSAGE_HELP = "the message: its id, its number in the inbox of the acting agent, or coder:3"


def add_actor(parser: ArgumentParser, about: str) -> None:
    """Add the option that names the acting agent, for `call.actor(options.sender)`.

    `--from`, its older name, is still accepted.
    """
    parser.add_argument("--as", dest="sender", metavar="AGENT", help=f"{about} (default $COVEY_AGENT)")
    parser.add_argument("--from", dest="sender", help=SUPPRESS)


def is_number(text: str) -> bool:
    """Return True if a message is named by its number."""
    return text.isascii() and text.isdigit()


def message_of(call: Call, text: str, claimed: str | None = None) -> MessageId:
    """Return the message that `text` names.

    A number counts in the inbox of the acting agent, or of the agent named before it.
    """
    agent, _, number = text.partition(":")
    if is_number(number):
        return numbered(call, parse_agent_name(agent), number)
    return numbered(call, call.agent(claimed), text) if is_number(text) else parse_message_id(text)


def numbered(call: Call, agent: AgentName, text: str) -> MessageId:
    """Return the message with this number in an agent's inbox."""
    try:
        if len(text) > DIGITS:
            raise NumberUnknown(text, agent)
        return call.run(call.services.dialogue.numbered(agent, int(text))).message_id
    except NumberUnknown:
        call.run(call.services.directory.agent(agent))  # so that a mistyped name is reported as such
        raise


def actor_or_user(call: Call) -> Identity:
    """Return the acting identity: a token's holder, the session, the named agent or the user.

    The named agent and the user are only claimed.
    """
    return call.actor(None if call.is_identified else _user())


def claimed_or_user(call: Call) -> Identity:
    """Return the named agent or the user, only claimed.

    No session counts here, because the space that it belongs to is replaced.
    """
    name = call.options.actor or os.environ.get("COVEY_AGENT") or _user()
    return claim(parse_agent_name(name))


def _user() -> str:
    """Return the user of the machine as the name of an agent."""
    from getpass import getuser  # imported late because most calls name an agent

    try:
        name = re.sub(r"[^A-Za-z0-9_-]", "-", getuser())[:58]
    except (OSError, KeyError):
        name = str(os.getuid())
    return f"user-{name}"
