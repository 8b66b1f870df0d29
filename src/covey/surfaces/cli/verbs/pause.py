"""covey pause."""

from argparse import ArgumentParser

from covey.core.names import parse_agent_name
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.user import actor_or_user
from covey.surfaces.cli.views.pausing import pause_document

DESCRIPTION = """\
Pause an agent, or without a name the whole space: mail for it is accepted and waits, but it is shown nothing, takes no
task, spawns nobody and can't send. What it has in hand it may finish. The operator can still write to everyone. It
takes the operator's token, in COVEY_TOKEN. `covey resume` ends it; `covey agents` shows it."""
EXAMPLES = """\
examples:
  export COVEY_TOKEN=$(cat operator.token)
  covey pause coder --reason "it repeats itself"
  covey pause
  covey resume coder"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="whom; by default the whole space")
    parser.add_argument("--reason", metavar="TEXT", default="", help="why: who is refused is told it")


def run(call: Call) -> int:
    options = call.options
    name = parse_agent_name(options.name) if options.name is not None else None
    pause = call.run(call.services.pauses.pause(name, actor_or_user(call), options.reason))
    if call.output.as_json:
        call.output.json({"agent": name, "paused": pause_document(pause)})
        return DONE
    call.output.text(f"{name or 'The space'} is paused. Mail is kept meanwhile.")
    call.output.note(f"`covey resume{f' {name}' if name else ''}` lets it go on.")
    return DONE
