"""The verb `say`: a text to one session, and the reply."""

from argparse import ArgumentParser
from typing import Final

from covey.core.directory.session import Session
from covey.core.errors import SessionEnded, SessionUnknown
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.message import Part
from covey.core.names import TicketId
from covey.core.work.negotiation import REPLY_SKIP, NegotiationEnding
from covey.services.dialogue.negotiation import ExchangeState, SessionExchange
from covey.services.space import Services
from covey.surfaces.cli.advice import advise
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.children.runs import SESSION_HELP, session_of
from covey.surfaces.cli.exits import DONE, INTERRUPTED, REFUSED, UNAVAILABLE
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.options.drafts import text_parts
from covey.surfaces.cli.options.names import add_actor
from covey.surfaces.cli.times import parse_span
from covey.surfaces.cli.views.documents import delivery_document, message_document
from covey.surfaces.cli.views.messages import extras, show_receipt
from covey.surfaces.cli.views.questions import follow_question, resume_words, show_resume_command

_UNASKED: Final = (ExchangeState.DELIVERED, ExchangeState.FAILED)
_EXITS: Final = {ExchangeState.NO_REPLY_YET: UNAVAILABLE, ExchangeState.FAILED: REFUSED}


def _say_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="SESSION", help=SESSION_HELP)
    parser.add_argument("text", metavar="TEXT", nargs="?", help="what you say; - or nothing reads stdin")
    add_actor(parser, "the agent that says it")
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="attach a snapshot of a file")
    parser.add_argument("--wait", metavar="SPAN", help="a round: wait so long for the reply")


def _run_say(call: Call) -> int:
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


SAY: Final = Verb(
    arguments=_say_arguments,
    run=_run_say,
    description="""\
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
  130  Ctrl-C: the question stays open""",
    examples="""\
examples:
  covey say helper "Use the new parser." --as lead
  covey say helper "How far are you?" --as lead --wait 5m
  covey say helper REPLY_SKIP --as lead
  git diff | covey say 3f2b81c0 - --as lead""",
)


def show_exchange(call: Call, exchange: SessionExchange, lead: str | None = None) -> int:
    """Write the reply, or the present state with the next step. Return the exit code."""
    if call.output.as_json:
        call.output.json(exchange_document(call, exchange))
    elif exchange.message_id is not None and exchange.state in _UNASKED and exchange.ticket is None:
        show_receipt(call.output, call.run(call.services.mail.receipt(exchange.message_id)))
    elif exchange.state is ExchangeState.NO_REPLY_YET and exchange.ticket is not None:
        show_resume_command(call, exchange.ticket, lead or f"No answer from {exchange.session.agent} yet")
    elif exchange.reply is None:
        call.output.note(_told(exchange))
    else:
        call.output.text(exchange.reply.text)
        for line in extras(exchange.reply):
            call.output.note(f"With it came: {line}")
        _tell_next(call, exchange)
    return _EXITS.get(exchange.state, DONE)


def exchange_document(call: Call, exchange: SessionExchange) -> dict[str, Json]:
    """Return an exchange as a JSON document."""
    reply, waits = exchange.reply, exchange.state is ExchangeState.NO_REPLY_YET
    receipt = None if exchange.message_id is None else call.run(call.services.mail.receipt(exchange.message_id))
    return {
        "status": str(exchange.state),
        "session": str(exchange.session.key),
        "id": exchange.message_id,
        "deliveries": [delivery_document(copy) for copy in receipt.deliveries] if receipt is not None else [],
        "round": exchange.round,
        "rounds": exchange.limit,
        "ticket": exchange.ticket,
        "text": None if reply is None else reply.text,
        "reply": None if reply is None else message_document(reply),
        "asks_back": exchange.is_question,
        "ending": None if exchange.ending is None else str(exchange.ending),
        "reason": exchange.reason,
        "resume": resume_words(call, exchange.ticket) if waits and exchange.ticket is not None else None,
    }


def _told(exchange: SessionExchange) -> str:
    if exchange.state is ExchangeState.FAILED:
        return f"{exchange.session.agent} will not answer: {exchange.reason}."
    return f"{exchange.reason.capitalize()}." if exchange.reason else "The talk is over."


def _tell_next(call: Call, exchange: SessionExchange) -> None:
    """Tell a person at a terminal how the talk continues."""
    agent = exchange.session.agent
    if exchange.ending is NegotiationEnding.SKIPPED:
        call.output.step(f"The talk is over: {agent} has nothing to add.")
    elif exchange.ending is NegotiationEnding.LIMIT:
        call.output.step(f"That was the last of {exchange.limit} rounds.")
    elif exchange.is_question:
        call.output.step(f"{agent} asks back before it answers: say it with the same command.")
    elif exchange.round is not None:
        call.output.step(f"Round {exchange.round} of {exchange.limit}; {REPLY_SKIP} as the text ends the talk.")


def _session(call: Call) -> Session:
    try:
        return call.run(session_of(call.services, call.options.name))
    except SessionUnknown as error:
        advise(error, "`covey sessions` lists those that are there; `covey send AGENT TEXT` writes to an agent.")
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
) -> SessionExchange:
    """Wait for the reply. The wait is recorded, also if it continues an earlier one."""
    await services.waits.begin(ticket, actor, seconds)
    await follow_question(services, call.output, ticket, seconds, heeds_questions=True)
    return await services.negotiations.wait(session, actor, 0)
