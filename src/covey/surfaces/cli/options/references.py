"""References to messages: an id, or a number in an inbox.

A number counts in the inbox of the acting agent (3), or in any other one (coder:3).
"""

from argparse import ArgumentParser, Namespace

from covey.core.errors import Invalid, NumberUnknown
from covey.core.ids import MessageId, parse_message_id
from covey.core.names import AgentName, parse_agent_name
from covey.surfaces.cli.call import Call

DIGITS = 15
"""Maximum number of digits of a number in an inbox."""

HELP = "the message: its id, its number in the inbox of who acts, or coder:3"


def add_message(parser: ArgumentParser, about: str) -> None:
    """Add the id of a message, as a positional argument or as --id, to a verb of agent loops."""
    parser.add_argument("id", metavar="ID", nargs="?", help=about)
    parser.add_argument("--id", dest="named_id", metavar="ID", help="the same, as an option")


def message_given(options: Namespace) -> MessageId:
    """Return the message id that was given by position or as --id."""
    given = options.id or options.named_id
    if given is None:
        raise Invalid("id", None, "name the message by its id")
    return parse_message_id(given)


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
