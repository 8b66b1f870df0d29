"""The verb `receipt`: the ledger of one message."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Final

from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.event import Action, Event, extents, texts
from covey.services.care.history import MessageLedger
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.names import MESSAGE_HELP, message_of
from covey.surfaces.cli.times import age
from covey.surfaces.cli.views.debts import show_debts, ticket_document
from covey.surfaces.cli.views.documents import delivery_document, message_document
from covey.surfaces.cli.views.events import EventLine, EventNarrator, day_and_time, event_document
from covey.surfaces.cli.views.messages import evidence_of, headline, place_of


def _receipt_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=MESSAGE_HELP)


def _run_receipt(call: Call) -> int:
    ledger = call.run(call.services.history.ledger(message_of(call, call.options.id)))
    if call.output.as_json:
        call.output.json(
            {
                "id": ledger.message.id,
                "message": message_document(ledger.message),
                "deliveries": [delivery_document(delivery) for delivery in ledger.deliveries],
                "tickets": [ticket_document(ticket) for ticket in ledger.tickets],
                "events": [event_document(event) for event in ledger.events],
            }
        )
    else:
        _show(call, ledger)
    return DONE


RECEIPT: Final = Verb(
    arguments=_receipt_arguments,
    run=_run_receipt,
    description="""\
Show the ledger of a message: the place and the state of each copy, the evidence for it, the agents that owe an answer,
and every step on the way. `covey help ledger` explains the states.""",
    examples="""\
examples:
  covey receipt coder:1
  covey receipt 1 --as coder
  covey receipt 1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b --json""",
)


def _show(call: Call, ledger: MessageLedger) -> None:
    now = call.services.clock.now()
    call.output.pieces(*headline(ledger.message, now), margin="  ")
    call.output.text(ledger.message.id, "dim")
    call.output.text()
    call.output.table(
        ("agent", "state", "evidence", "for", "where, why"),
        [
            (d.agent or "?", str(d.state), evidence_of(d), age(d.updated_at, now), place_of(d))
            for d in ledger.deliveries
        ],
        "Nobody was here to get it.",
    )
    if ledger.tickets:
        call.output.text()
        show_debts(call, ledger.tickets, "")
    call.output.text()
    call.output.table(
        ("at", "who", "what", "step"),
        [
            (day_and_time(event.at), str(event.actor), told.word, told.text)
            for event in ledger.events
            for told in _told(call, event, ledger.deliveries)
        ],
        "The journal does not know it.",
    )


def _told(call: Call, event: Event, copies: Sequence[DeliveryRecord]) -> Sequence[EventLine]:
    """Return an event's effect on the message, in words."""
    if event.action is Action.EVIDENCE:
        return (EventLine("evidence", f"{event.details['grade']}: {event.details['basis']}{_part(event, copies)}"),)
    if event.action is Action.OFFER_MADE:
        return (EventLine("offered", f"{event.agent}, for {event.details['turn']}{_part(event, copies)}"),)
    return call.run(EventNarrator(call.services).narrate(event))


def _part(event: Event, copies: Sequence[DeliveryRecord]) -> str:
    """Return the part of the message that an offer or evidence is about, or "" for the whole."""
    ids = {copy.id for copy in copies}
    shown = texts(event.details, "deliveries")
    found = zip(shown, extents(event.details, len(shown)), strict=True)
    cut = [str(part) for item, part in found if item in ids and part is not None and not part.is_whole]
    return f": {cut[0]}" if cut else ""
