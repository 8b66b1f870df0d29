"""covey ask."""

from argparse import ArgumentParser

from covey.core.errors import Invalid
from covey.core.ids import parse_ticket_id
from covey.core.work.approval import parse_approval_name
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import INTERRUPTED
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.options.drafts import draft_arguments, draft_of, policy_of
from covey.surfaces.cli.options.when import parse_span
from covey.surfaces.cli.views.answering import answer_exit, is_open, show_outcome
from covey.surfaces.cli.views.approvals import EXITS, approval_in
from covey.surfaces.cli.views.standing import await_answer

USUAL_TIMEOUT = "60s"
DESCRIPTION = """\
Ask an agent and wait for the answer, which is written to stdout. The question is durable: when the wait ends without
an answer, the command says how to wait on, and a late answer also arrives in the inbox of who asked.

With --approval the answer is a decision, by `covey approve` or `covey reject`, or by the tools of a model.

exit codes:
  0    answered; with --approval: approved
  1    there will be no answer: refused, undeliverable, expired or closed
  4    no answer yet: wait on with --ticket
  5    rejected
  130  Ctrl-C: the question stays open; wait on with --ticket"""
EXAMPLES = """\
examples:
  covey ask --from lead --to critic "Is the parser done?" --timeout 5m
  git diff | covey ask --from lead --to critic --subject review -
  covey ask --approval deploy "v2" --from ci --to lead --timeout 8h
  covey ask --from lead --ticket \\
    1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b@critic"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", nargs="?", help="the question; - or nothing reads stdin")
    parser.add_argument("--to", metavar="AGENT", action="append", help="whom to ask")
    parser.add_argument("--approval", metavar="WHAT", help="have it approved: plan, shutdown or a word of your own")
    parser.add_argument("--ticket", metavar="ID", help="wait on for the answer to an earlier question")
    parser.add_argument(
        "--timeout", metavar="SPAN", default=USUAL_TIMEOUT, help=f"how long to wait (default {USUAL_TIMEOUT})"
    )
    draft_arguments(parser)


def run(call: Call) -> int:
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
    elif options.text is not None or options.to or options.approval:
        raise Invalid("ticket", options.ticket, "the question was asked already: give no TEXT, --to or --approval")
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
        show_outcome(call, outcome, approval_in(call, outcome), "Interrupted")
        return INTERRUPTED
    approval = approval_in(call, outcome)
    missing = "answer" if approval is None else "decision"
    show_outcome(call, outcome, approval, f"No {missing} from {outcome.ticket.debtor} yet")
    return EXITS[approval.state] if approval is not None else answer_exit(outcome)
