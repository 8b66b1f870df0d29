"""covey stop."""

from argparse import ArgumentParser

from covey.core.identity import Identity
from covey.core.work.run import Run
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, UNAVAILABLE
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.options.when import parse_span
from covey.surfaces.cli.sessions.document import run_document
from covey.surfaces.cli.sessions.ending import name_of
from covey.surfaces.cli.sessions.naming import HELP, run_of

USUAL_WAIT = "15s"
DESCRIPTION = """\
Stop children, wherever they run: the program of each is told to terminate, then killed with all that it started. What
it printed until then is its result. The agent that started a child, the child's own and the operator may; where nothing
says who acts, it is done in the name of who started it.

exit codes:
  0    it has ended, by this or before
  4    it was told to stop, and has not ended yet"""
EXAMPLES = """\
examples:
  covey stop fixer
  covey stop 3f2b81c0 --reason "no longer needed"
  covey stop agent:coder:subagent:7f3c0f6e-6a53-4f5c-9f1a-0d2f6a7c9b11"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("names", metavar="CHILD", nargs="+", help=HELP)
    parser.add_argument("--reason", metavar="TEXT", default="", help="why; who started it reads it")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who stops it; only claimed")
    parser.add_argument("--wait", metavar="SPAN", default=USUAL_WAIT, help=f"for its end (default {USUAL_WAIT})")


def run(call: Call) -> int:
    seconds = parse_span(call.options.wait).total_seconds()
    # All names are resolved before the first child is stopped, so that a wrong name stops nothing.
    runs = [call.run(run_of(call.services, name)) for name in call.options.names]
    return max(_stop(call, found, seconds) for found in runs)


def _stop(call: Call, found: Run, seconds: float) -> int:
    had_ended, reason, actor = found.has_ended, call.options.reason, _actor(call, found)
    if not had_ended:
        found = run_live(call, lambda services: services.spawning.stop(found.id, actor, reason, seconds))
    if call.output.as_json:
        call.output.json(run_document(found))
    elif had_ended:
        call.output.text(f"The child {name_of(found)} had ended already: {found.state}.")
    elif found.has_ended:
        call.output.text(f"The child {name_of(found)} has ended: {found.state}.")
    else:
        call.output.text(f"The child {name_of(found)} was told to stop, and has not ended yet.")
    return DONE if found.has_ended else UNAVAILABLE


def _actor(call: Call, found: Run) -> Identity:
    if call.options.sender is None and not call.is_identified:
        return call.services.identities.claim(found.parent_agent)
    return call.actor(call.options.sender)
