"""covey handle."""

from argparse import ArgumentParser

from covey.surfaces.cli.call import Call
from covey.surfaces.cli.views.settling import add_settling, settle

DESCRIPTION = """\
Mark messages as handled: they leave the inbox of the agent that acts. A request is handled by answering it: one that
is only marked so is still owed."""
EXAMPLES = """\
examples:
  covey handle 3 4 --agent coder
  covey handle 5 --agent coder --why "done in 4f2a1c" """.rstrip()


def arguments(parser: ArgumentParser) -> None:
    add_settling(parser, "handled")


def run(call: Call) -> int:
    return settle(call)
