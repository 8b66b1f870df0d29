"""covey gate."""

from argparse import ArgumentParser

from covey.core.ledger.gate import Verdict
from covey.core.names import known_scope
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.forcing import add_forcing, reason
from covey.surfaces.cli.views.debts import show_debts
from covey.surfaces.cli.views.ticket_document import ticket_document

DESCRIPTION = """\
Check that nothing in a scope is still owed: 0 where the gate is open, 1 where it is not; then it lists who owes what.
With --sweep it is the commit step of a loop: check, then put all messages of the scope away, in one step."""
EXAMPLES = """\
examples:
  covey gate M001-S001-T0001 && git commit
  covey gate M001-S001-T0001 --sweep --agent lead --json
  covey gate T-17 --force-commit-phase --why "the critic is gone" --agent lead"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("scope", metavar="SCOPE")
    add_forcing(parser)
    parser.add_argument("--sweep", action="store_true", help="where it passes, put all messages of the scope away too")


def run(call: Call) -> int:
    scope = known_scope(call.options.scope)
    why = reason(call.options)
    verdict, swept = call.run(call.services.dialogue.gate(scope)), None
    if why is None:
        _check(call, verdict)
    if call.options.sweep:
        # One step with the check or the force, so that no change can come between them.
        _, swept, verdict = call.run(call.services.dialogue.sweep(scope, call.actor(), why))
    elif why is not None:
        verdict = call.run(call.services.dialogue.force(scope, call.actor(), why))
    if call.output.as_json:
        passed = {"scope": scope, "passed": True, "forced_over": [ticket_document(t) for t in verdict.owed]}
        call.output.json(passed if swept is None else {**passed, "messages_swept": swept})
        return DONE
    if verdict.forced:
        call.output.text(f"The gate of {scope} was forced over {len(verdict.owed)} request(s).")
    else:
        call.output.text(f"Nothing is owed in {scope}.")
    if swept is not None:
        call.output.text(f"{swept} message(s) swept.")
    return DONE


def _check(call: Call, verdict: Verdict) -> None:
    """Raise GateClosed if something is owed. A person sees the list first."""
    if not verdict.passed and not call.output.as_json:
        show_debts(call, verdict.owed, "")
        call.output.flush()  # the error follows on stderr
    verdict.check()
