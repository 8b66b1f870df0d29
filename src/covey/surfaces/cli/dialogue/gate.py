"""The verbs about owed answers: `owed`, `gate` and `sweep`."""

from argparse import ArgumentParser, Namespace
from typing import Final

from covey.core.errors import Invalid
from covey.core.ledger.outcome import Verdict
from covey.core.names import known_scope
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.views.debts import question_document, question_of, show_debts, ticket_document


def _owed_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", metavar="AGENT", help="the agent; by default the acting agent, or all agents if none acts"
    )
    parser.add_argument(
        "--to", dest="to_agent", action="store_true", help="list the answers that the agent waits for instead"
    )
    parser.add_argument("--scope", help="only answers of this scope")
    parser.add_argument("--all-agents", action="store_true", help="list the answers that all agents owe")
    parser.add_argument("--full", action="store_true", help="show whole questions, instead of two lines of each")


def _run_owed(call: Call) -> int:
    options = call.options
    dialogue = call.services.dialogue
    scope = known_scope(options.scope) if options.scope else None
    if scope is not None and options.name is None and not options.to_agent:
        tickets = call.run(dialogue.gate(scope)).owed
        nothing = f"Nothing is owed in {scope}."
    elif (agent := call.agent_or_all(options.name, wants_all=options.all_agents)) is None:
        tickets = [ticket for ticket in call.run(dialogue.all_owed()) if scope is None or ticket.scope == scope]
        nothing = f"Nothing is owed{f' in {scope}' if scope else ''}."
    else:
        agent = call.run(call.services.directory.agent(agent)).name
        owed = call.run(dialogue.owed_to(agent) if options.to_agent else dialogue.owed_by(agent))
        tickets = tuple(ticket for ticket in owed if scope is None or ticket.scope == scope)
        nothing = f"Nothing is owed {'to' if options.to_agent else 'by'} {agent}{f' in {scope}' if scope else ''}."
    questions = {ticket.id: question_of(call, ticket.message_id) for ticket in tickets}
    if call.output.as_json:
        call.output.json([{**ticket_document(ticket), **question_document(questions[ticket.id])} for ticket in tickets])
    else:
        show_debts(call, tickets, nothing, questions, is_full=options.full)
    return DONE


OWED: Final = Verb(
    arguments=_owed_arguments,
    run=_run_owed,
    description="""\
List the answers that an agent owes, oldest first, or with --to the answers that it waits for. Without an agent, list
the answers that all agents owe. An answer is open until it is given, and owed until the question is archived. A request
that waits for `covey approve` or `covey reject` has a label under `approval`. With --scope alone, list all answers that
keep the gate of that scope closed.""",
    examples="""\
examples:
  covey owed
  covey owed coder
  covey owed --to lead
  covey owed --scope T-17""",
)


def _force_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that force a gate."""
    parser.add_argument(
        "--force-commit-phase", action="store_true", help="pass although answers are owed; the journal records it"
    )
    parser.add_argument("--why", metavar="REASON", help="the reason for forcing the gate")


def _force_reason(options: Namespace) -> str | None:
    """Return the reason for forcing a gate, or None if it is not forced."""
    why: str | None = options.why
    if options.force_commit_phase and not (why and why.strip()):
        raise Invalid("--why", why, "forcing the gate needs a reason")
    if why is not None and not options.force_commit_phase:
        raise Invalid("--why", why, "it is for --force-commit-phase")
    return why


def _gate_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("scope", metavar="SCOPE")
    _force_arguments(parser)
    parser.add_argument(
        "--sweep", action="store_true", help="also archive all messages of the scope if the gate is open"
    )


def _run_gate(call: Call) -> int:
    scope = known_scope(call.options.scope)
    why = _force_reason(call.options)
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


GATE: Final = Verb(
    arguments=_gate_arguments,
    run=_run_gate,
    description="""\
Check that no answer in a scope is owed. The exit code is 0 if the gate is open, and 1 if it is closed; then the command
lists the owed answers with their debtors. With --sweep it is the commit step of a loop: it checks the gate and archives
all messages of the scope, in one step.""",
    examples="""\
examples:
  covey gate M001-S001-T0001 && git commit
  covey gate M001-S001-T0001 --sweep --as lead --json
  covey gate T-17 --force-commit-phase --why "the critic is gone" --as lead""",
)


def _check(call: Call, verdict: Verdict) -> None:
    """Raise GateClosed if something is owed. A person sees the list first."""
    if not verdict.passed and not call.output.as_json:
        show_debts(call, verdict.owed, "")
        call.output.flush()  # the error follows on stderr
    verdict.check()


def _sweep_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("scope", metavar="SCOPE")
    _force_arguments(parser)


def _run_sweep(call: Call) -> int:
    scope = known_scope(call.options.scope)
    swept = call.run(call.services.dialogue.sweep(scope, call.actor(), _force_reason(call.options)))
    over = swept.verdict.owed
    if call.output.as_json:
        forced = [ticket_document(ticket) for ticket in over]
        call.output.json({"scope": scope, "messages_swept": swept.messages_swept, "forced_over": forced})
    else:
        by_force = f", by force over {len(over)} request(s)" if over else ""
        call.output.text(f"{swept.messages_swept} message(s) of {scope} are put away{by_force}.")
    return DONE


SWEEP: Final = Verb(
    arguments=_sweep_arguments,
    run=_run_sweep,
    description="""\
Archive all messages of a scope. The gate of the scope must be open, or be forced. Archived messages stay readable in
their threads and by search.""",
    examples="""\
examples:
  covey sweep T-17 --as lead
  covey sweep T-17 --as lead --force-commit-phase --why "critic retired" """.rstrip(),
)
