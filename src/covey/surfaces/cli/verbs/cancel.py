"""covey cancel."""

from argparse import ArgumentParser

from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.tasks.moving import show_move
from covey.surfaces.cli.tasks.naming import HELP, task_of

DESCRIPTION = """\
Take back a task that is not finished; only who handed it over can. It has failed then, and whoever works on it is told
to stop."""
EXAMPLES = """\
examples:
  covey cancel coder:3 --from lead
  covey cancel coder:3 --from lead --reason "somebody else has done it" """.rstrip()


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=HELP)
    parser.add_argument("--reason", metavar="TEXT", default="", help="what whoever works on it should know")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who handed it over; only claimed")


def run(call: Call) -> int:
    task = task_of(call, call.options.id, call.options.sender).task
    actor = call.actor(call.options.sender)
    show_move(call, call.run(call.services.tasks.cancel(task.id, actor, call.options.reason)))
    return DONE
