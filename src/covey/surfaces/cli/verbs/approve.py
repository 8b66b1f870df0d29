"""covey approve."""

from argparse import ArgumentParser

from covey.surfaces.cli.call import Call
from covey.surfaces.cli.deciding import add_deciding, decide

DESCRIPTION = """\
Approve what a message asks to be approved: a plan, a shutdown, or whatever its sender called it. The sender is told,
and nothing more is owed. The first decision counts: the same again changes nothing, another one is refused."""
EXAMPLES = """\
examples:
  covey approve 3 --agent lead
  covey approve 3 --agent lead --reason "but keep the old parser for a week" """.rstrip()


def arguments(parser: ArgumentParser) -> None:
    add_deciding(parser, "what whoever asked should know")


def run(call: Call) -> int:
    return decide(call, approve=True)
