"""covey resume."""

from argparse import ArgumentParser

from covey.core.names import parse_agent_name
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.user import actor_or_user

DESCRIPTION = """\
Let an agent, or without a name the whole space, go on after `covey pause`. An agent that was paused by itself stays so
when the space goes on. It takes the operator's token, in COVEY_TOKEN."""
EXAMPLES = """\
examples:
  COVEY_TOKEN=$(cat operator.token) covey resume coder
  COVEY_TOKEN=$(cat operator.token) covey resume"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="whom; by default the whole space")


def run(call: Call) -> int:
    given = call.options.name
    name = parse_agent_name(given) if given is not None else None
    was_paused = call.run(call.services.pauses.resume(name, actor_or_user(call)))
    if call.output.as_json:
        call.output.json({"agent": name, "changed": was_paused})
        return DONE
    who = name or "The space"
    call.output.text(f"{who} goes on." if was_paused else f"{who} was not paused: nothing was changed.")
    still = call.run(call.services.pauses.all())
    if still:
        call.output.note("Still paused: " + ", ".join("the space" if agent == "*" else agent for agent in still) + ".")
    return DONE
