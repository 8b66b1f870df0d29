"""covey reject."""

from argparse import ArgumentParser

from covey.surfaces.cli.call import Call
from covey.surfaces.cli.deciding import add_deciding, decide

DESCRIPTION = """\
Reject what a message asks to be approved, or a task that was not accepted yet, and say why: whoever asked has to make
something of it. The first decision counts: the same again changes nothing, another one is refused."""
EXAMPLES = """\
examples:
  covey reject 3 --agent lead --reason "the tests first"
  covey reject coder:4 --from coder --reason "there is no such file" """.rstrip()


def arguments(parser: ArgumentParser) -> None:
    add_deciding(parser, "why; it has to be said")


def run(call: Call) -> int:
    return decide(call, approve=False)
