"""covey say."""

from argparse import ArgumentParser

from covey.core.directory.session import Session
from covey.core.errors import SessionEnded, SessionUnknown
from covey.core.identity import Identity
from covey.core.ids import TicketId
from covey.core.ledger.message import Part
from covey.services.dialogue.exchange import Exchange, ExchangeState
from covey.services.space import Services
from covey.surfaces.cli.advice import advise
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import INTERRUPTED
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.options.drafts import text_parts
from covey.surfaces.cli.options.when import parse_span
from covey.surfaces.cli.sessions.naming import HELP, session_of
from covey.surfaces.cli.sessions.talking import show_exchange
from covey.surfaces.cli.views.standing import follow

DESCRIPTION = """\
Say something to one live session: a child, or another session of an agent, where `covey send` writes to the agent. What
you owe that session is answered by it. With --wait it is a round of a talk, and the reply is written to stdout; the
next --wait to the same session is the next round. The text REPLY_SKIP ends the talk, from either side. After the last
round the two are let alone for a minute; `covey storms limits` shows how many there are. When the wait ends without a
reply, the command says how to wait on, and a late one also arrives in the inbox of who asked. A child in mode session
is run again for what it is told.

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
  covey say helper REPLY_SKIP --from lead
  git diff | covey say 3f2b81c0 - --from lead"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="SESSION", help=HELP)
    parser.add_argument("text", metavar="TEXT", nargs="?", help="what you say; - or nothing reads stdin")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who says it; only claimed")
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="attach a snapshot of a file")
    parser.add_argument("--wait", metavar="SPAN", help="a round: wait so long for the reply")


def run(call: Call) -> int:
    seconds = parse_span(call.options.wait).total_seconds() if call.options.wait else None
    session = _session(call)
    parts, actor = _parts(call), call.actor(call.options.sender)
    exchange = call.run(call.services.negotiations.say(parts, session, actor, 0, waits_on=seconds))
    ticket = exchange.ticket
    if ticket is None or not seconds or exchange.state is not ExchangeState.NO_REPLY_YET:
        return show_exchange(call, exchange)
    try:
        exchange = run_live(call, lambda services: _await(call, services, session, ticket, actor, seconds))
    except KeyboardInterrupt:
        call.output.step("")
        call.run(call.services.waits.end(ticket, actor))
        show_exchange(call, exchange, "Interrupted")
        return INTERRUPTED
    return show_exchange(call, exchange)


def _session(call: Call) -> Session:
    try:
        return call.run(session_of(call.services, call.options.name))
    except SessionUnknown as error:
        advise(error, "`covey sessions` lists those that are there; `covey send --to AGENT` writes to an agent.")
        raise
    except SessionEnded as error:
        advise(error, "`covey sessions --all` shows how it ended.")
        raise


def _parts(call: Call) -> tuple[Part, ...]:
    files = call.options.file
    parts = text_parts(call.options.text, call.output, has_files=bool(files))
    return (*parts, *(call.run(call.services.attachments.snapshot(path)) for path in files))


async def _await(
    call: Call, services: Services, session: Session, ticket: TicketId, actor: Identity, seconds: float
) -> Exchange:
    """Wait for the reply. The wait is recorded, also if it continues an earlier one."""
    await services.waits.begin(ticket, actor, seconds)
    await follow(services, call.output, ticket, seconds, heeds_questions=True)
    return await services.negotiations.wait(session, actor, 0)
