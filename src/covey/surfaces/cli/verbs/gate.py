"""covey gate."""

from argparse import ArgumentParser

from covey.core.errors import Invalid
from covey.core.names import parse_scope
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.documents import ticket_document

DESCRIPTION = "Check that nothing in a scope is still owed: 0 where the gate is open, 1 where it is not."


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("scope", metavar="SCOPE")
    parser.add_argument("--force-commit-phase", action="store_true", help="pass whatever is owed; it is journalled")
    parser.add_argument("--why", metavar="REASON", help="why it is forced")


def run(call: Call) -> int:
    options = call.options
    scope = parse_scope(options.scope)
    if options.force_commit_phase:
        if not options.why:
            raise Invalid("--why", None, "forcing the gate needs a reason")
        verdict = call.run(call.services.dialogue.force(scope, call.actor(), options.why))
    else:
        verdict = call.run(call.services.dialogue.gate(scope))
    verdict.check()
    if call.output.as_json:
        call.output.json({"scope": scope, "passed": True, "forced_over": [ticket_document(t) for t in verdict.owed]})
    elif verdict.forced:
        call.output.text(f"The gate of {scope} was forced over {len(verdict.owed)} request(s).")
    else:
        call.output.text(f"Nothing is owed in {scope}.")
    return 0
