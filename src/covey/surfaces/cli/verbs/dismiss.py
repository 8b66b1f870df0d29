"""covey dismiss."""

from argparse import ArgumentParser

from covey.surfaces.cli.call import Call
from covey.surfaces.cli.views.settling import add_settling, settle

DESCRIPTION = """\
Let messages go without doing anything about them: they leave the inbox of the agent that acts, and the ledger says
that they were dismissed. A request that is dismissed is still owed."""
EXAMPLES = """\
examples:
  covey dismiss 5 --agent coder
  covey dismiss 5 6 7 --agent coder --why "about a branch that is gone" """.rstrip()


def arguments(parser: ArgumentParser) -> None:
    add_settling(parser, "dismissed")


def run(call: Call) -> int:
    return settle(call)
