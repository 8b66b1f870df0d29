"""The verb `ask`: a question, or a request for approval, whose answer is waited for."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Final

from covey.core.errors import Invalid
from covey.core.ledger.outcome import Outcome
from covey.core.names import parse_ticket_id
from covey.core.work.approval import Approval, ApprovalState, approval_of, parse_approval_name, requested
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE, INTERRUPTED, REFUSED, REJECTED, UNAVAILABLE
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.options.drafts import add_addressed_text, draft_arguments, draft_of, policy_of
from covey.surfaces.cli.times import parse_span
from covey.surfaces.cli.views.questions import answer_exit, await_answer, is_open, show_outcome

APPROVAL_EXITS: Final[Mapping[ApprovalState, int]] = {
    ApprovalState.APPROVED: DONE,
    ApprovalState.REJECTED: REJECTED,
    ApprovalState.WAITING: UNAVAILABLE,
    ApprovalState.FAILED: REFUSED,
}
USUAL_TIMEOUT = "60s"


def _ask_arguments(parser: ArgumentParser) -> None:
    add_addressed_text(parser, "the agent to ask", "the question")
    parser.add_argument("--approval", metavar="WHAT", help="ask for an approval: plan, shutdown or a word of your own")
    parser.add_argument("--ticket", metavar="ID", help="wait again for the answer to an earlier question")
    parser.add_argument(
        "--timeout", metavar="SPAN", default=USUAL_TIMEOUT, help=f"how long to wait (default {USUAL_TIMEOUT})"
    )
    draft_arguments(parser)


def _run_ask(call: Call) -> int:
    options = call.options
    seconds = parse_span(options.timeout).total_seconds()
    asks = call.services.asks
    if options.ticket is None:
        approval = parse_approval_name(options.approval) if options.approval is not None else None
        draft = draft_of(call, is_request=True)
        if approval is not None:
            draft = call.services.approvals.prepared(draft, approval)
        actor = call.actor(options.sender)
        # The wait is recorded with the question, so that if two agents ask each other, one of them is told.
        outcome = call.run(asks.ask(draft, actor, policy_of(call)._replace(waits=seconds), 0))
    elif options.whom is not None or options.words or options.to or options.approval:
        raise Invalid("ticket", options.ticket, "the question was asked already: give no AGENT, TEXT or --approval")
    else:
        actor = call.actor(options.sender)
        outcome = call.run(asks.resume(parse_ticket_id(options.ticket), actor, 0))
    ticket = outcome.ticket.id
    try:
        if is_open(outcome) and seconds > 0:
            outcome = run_live(call, lambda services: await_answer(services, call.output, ticket, actor, seconds))
    except KeyboardInterrupt:
        call.output.step("")  # starts a new line below the key that the terminal echoes
        call.run(call.services.waits.end(ticket, actor))
        show_outcome(call, outcome, _approval_in(call, outcome), "Interrupted")
        return INTERRUPTED
    approval = _approval_in(call, outcome)
    missing = "answer" if approval is None else "decision"
    show_outcome(call, outcome, approval, f"No {missing} from {outcome.ticket.debtor} yet")
    return APPROVAL_EXITS[approval.state] if approval is not None else answer_exit(outcome)


ASK: Final = Verb(
    arguments=_ask_arguments,
    run=_run_ask,
    description="""\
Ask an agent and wait for the answer, which is written to stdout. The question is durable: if the wait ends without
an answer, the command shows how to wait again, and a late answer arrives in the inbox of the asking agent.

With --approval the answer is a decision: `covey approve` or `covey reject`, or the tools of a model.

exit codes:
  0    answered; with --approval: approved
  1    there will be no answer: refused, undeliverable, expired or closed
  4    no answer yet: wait again with --ticket
  5    rejected
  130  Ctrl-C: the question stays open; wait again with --ticket""",
    examples="""\
examples:
  covey ask critic "Is the parser done?" --as lead --timeout 5m
  git diff | covey ask critic - --as lead --subject review
  covey ask lead "v2" --approval deploy --as ci --timeout 8h
  covey ask --as lead --ticket \\
    1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b@critic""",
)


def _approval_in(call: Call, outcome: Outcome) -> Approval | None:
    """Return the approval that a question asked for, or None if it asked for none."""
    request = requested(call.run(call.services.mail.message(outcome.ticket.message_id)))
    return approval_of(request, outcome) if request else None
