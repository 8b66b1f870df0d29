"""covey say."""

from argparse import ArgumentParser

from covey.core.address import Address, AddressKind
from covey.core.draft import Draft
from covey.core.errors import SessionEnded, SessionUnknown
from covey.core.message import Kind
from covey.core.session import Session
from covey.services.recipients import SendPolicy
from covey.surfaces.cli.advice import advise
from covey.surfaces.cli.answering import answer_exit, is_open, show_outcome
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import INTERRUPTED
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.receipts import show_receipt
from covey.surfaces.cli.sessions.naming import HELP, session_of
from covey.surfaces.cli.standing import await_answer
from covey.surfaces.cli.texts import text_parts
from covey.surfaces.cli.when import parse_span

DESCRIPTION = """\
Say something to one live session: a child, or another session of an agent, where `covey send` writes to the agent. With
--wait it is a question: the answer is written to stdout; when the wait ends without one, the command says how to wait
on, and a late answer also arrives in the inbox of who asked. A child in mode session is run again for what it is told.

exit codes:
  0    delivered; with --wait: answered
  1    refused, or there will be no answer
  3    there is no such session
  4    no answer yet: wait on with `covey ask --ticket`
  130  Ctrl-C: the question stays open"""
EXAMPLES = """\
examples:
  covey say helper "Use the new parser." --from lead
  covey say helper "How far are you?" --from lead --wait 5m
  git diff | covey say 3f2b81c0 - --from lead"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=HELP)
    parser.add_argument("text", metavar="TEXT", nargs="?", help="what you say; - or nothing reads stdin")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who says it; only claimed")
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="attach a snapshot of a file")
    parser.add_argument("--wait", metavar="SPAN", help="ask, and wait so long for the answer")


def run(call: Call) -> int:
    options = call.options
    seconds = parse_span(options.wait).total_seconds() if options.wait else None
    session = _session(call)
    draft = _draft(call, session, is_request=seconds is not None)
    if seconds is None:
        return _tell(call, draft)
    return _ask(call, draft, seconds)


def _session(call: Call) -> Session:
    try:
        return call.run(session_of(call.services, call.options.name))
    except SessionUnknown as error:
        advise(error, "`covey sessions` lists those that are there; `covey send --to AGENT` writes to an agent.")
        raise
    except SessionEnded as error:
        advise(error, "`covey sessions --all` shows how it ended.")
        raise


def _draft(call: Call, session: Session, *, is_request: bool) -> Draft:
    files = call.options.file
    parts = [*text_parts(call.options.text, call.output, has_files=bool(files))]
    return Draft(
        kind=Kind.REQUEST if is_request else Kind.NOTIFY,
        to=(Address(AddressKind.SESSION, session.id),),
        parts=(*parts, *(call.run(call.services.attachments.snapshot(path)) for path in files)),
        expects_reply=is_request,
    )


def _tell(call: Call, draft: Draft) -> int:
    receipt = call.run(call.services.mail.send(draft, call.actor(call.options.sender), SendPolicy()))
    return show_receipt(call.output, receipt)


def _ask(call: Call, draft: Draft, seconds: float) -> int:
    actor = call.actor(call.options.sender)
    outcome = call.run(call.services.asks.ask(draft, actor, SendPolicy(waits=seconds), 0))
    ticket = outcome.ticket.id
    try:
        if is_open(outcome) and seconds > 0:
            outcome = run_live(call, lambda services: await_answer(services, call.output, ticket, actor, seconds))
    except KeyboardInterrupt:
        call.output.step("")
        call.run(call.services.waits.end(ticket, actor))
        show_outcome(call, outcome, None, "Interrupted")
        return INTERRUPTED
    show_outcome(call, outcome, None, f"No answer from {outcome.ticket.debtor} yet")
    return answer_exit(outcome)
