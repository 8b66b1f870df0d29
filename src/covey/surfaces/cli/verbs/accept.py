"""covey accept."""

from argparse import ArgumentParser

from covey.core.work.task import TaskState
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, REJECTED
from covey.surfaces.cli.tasks.moving import show_move
from covey.surfaces.cli.tasks.naming import HELP_OR_OWN, task_of

DESCRIPTION = """\
Say yes to a task: whoever handed it over is told, and it takes a place of the agent's quota. With a session it is that
session's alone, until it ends. `covey reject ID --reason TEXT` says no.

Where the sender is not allowed, the quota has no room or the deadline has passed, the task is rejected instead, with
exit code 5. An agent whose tasks may queue keeps one over the quota waiting (`quota-full`)."""
EXAMPLES = """\
examples:
  covey accept coder:3 --as coder
  covey accept 3 --agent coder && covey update 3 --agent coder --start"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help=HELP_OR_OWN)
    parser.add_argument("--as", dest="sender", metavar="AGENT", help="who accepts; only claimed")


def run(call: Call) -> int:
    task = task_of(call, call.options.id, call.options.sender).task
    task = call.run(call.services.duties.accept(task.id, call.actor(call.options.sender)))
    show_move(call, task)
    return REJECTED if task.state is TaskState.REJECTED else DONE
