"""The outcome of a text said to a session, for people and programs."""

from typing import Final

from covey.core.json import Json
from covey.core.work.negotiation import REPLY_SKIP, Ending
from covey.services.dialogue.exchange import Exchange, ExchangeState
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, REFUSED, UNAVAILABLE
from covey.surfaces.cli.views.answering import resume_words, show_way_on
from covey.surfaces.cli.views.documents import delivery_document, message_document
from covey.surfaces.cli.views.headline import extras
from covey.surfaces.cli.views.receipts import show_receipt

_UNASKED: Final = (ExchangeState.DELIVERED, ExchangeState.FAILED)
_EXITS: Final = {ExchangeState.NO_REPLY_YET: UNAVAILABLE, ExchangeState.FAILED: REFUSED}


def show_exchange(call: Call, exchange: Exchange, lead: str | None = None) -> int:
    """Write the reply, or the present state with the next step. Return the exit code."""
    if call.output.as_json:
        call.output.json(exchange_document(call, exchange))
    elif exchange.message_id is not None and exchange.state in _UNASKED and exchange.ticket is None:
        show_receipt(call.output, call.run(call.services.mail.receipt(exchange.message_id)))
    elif exchange.state is ExchangeState.NO_REPLY_YET and exchange.ticket is not None:
        show_way_on(call, exchange.ticket, lead or f"No answer from {exchange.session.agent} yet")
    elif exchange.reply is None:
        call.output.note(_told(exchange))
    else:
        call.output.text(exchange.reply.text)
        for line in extras(exchange.reply):
            call.output.note(f"With it came: {line}")
        _tell_next(call, exchange)
    return _EXITS.get(exchange.state, DONE)


def exchange_document(call: Call, exchange: Exchange) -> dict[str, Json]:
    """Return an exchange as a JSON document."""
    reply, waits = exchange.reply, exchange.state is ExchangeState.NO_REPLY_YET
    receipt = None if exchange.message_id is None else call.run(call.services.mail.receipt(exchange.message_id))
    return {
        "status": str(exchange.state),
        "session": str(exchange.session.key),
        "id": exchange.message_id,
        "deliveries": [delivery_document(copy) for copy in receipt.deliveries] if receipt else [],
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


def _told(exchange: Exchange) -> str:
    if exchange.state is ExchangeState.FAILED:
        return f"{exchange.session.agent} will not answer: {exchange.reason}."
    return f"{exchange.reason.capitalize()}." if exchange.reason else "The talk is over."


def _tell_next(call: Call, exchange: Exchange) -> None:
    """Tell a person at a terminal how the talk continues."""
    agent = exchange.session.agent
    if exchange.ending is Ending.SKIPPED:
        call.output.step(f"The talk is over: {agent} has nothing to add.")
    elif exchange.ending is Ending.LIMIT:
        call.output.step(f"That was the last of {exchange.limit} rounds.")
    elif exchange.is_question:
        call.output.step(f"{agent} asks back before it answers: say it with the same command.")
    elif exchange.round is not None:
        call.output.step(f"Round {exchange.round} of {exchange.limit}; {REPLY_SKIP} as the text ends the talk.")
