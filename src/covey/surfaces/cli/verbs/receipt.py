"""covey receipt."""

from argparse import ArgumentParser
from collections.abc import Sequence

from covey.core.care.details import extents, texts
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.event import Action, Event
from covey.services.care.history import Ledger
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.references import HELP, message_of
from covey.surfaces.cli.options.when import age
from covey.surfaces.cli.views.debts import show_debts
from covey.surfaces.cli.views.documents import delivery_document, message_document
from covey.surfaces.cli.views.events import day_and_time, event_document
from covey.surfaces.cli.views.headline import headline
from covey.surfaces.cli.views.receipts import evidence_of, place_of
from covey.surfaces.cli.views.telling import Teller, Told
from covey.surfaces.cli.views.ticket_document import ticket_document

DESCRIPTION = """\
Show the ledger of a message: where each copy is and how far it got, on what evidence, who owes an answer to it, and
every step on the way. `covey help ledger` explains the states."""
EXAMPLES = """\
examples:
  covey receipt 1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b
  covey receipt 1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b --json"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=HELP)


def run(call: Call) -> int:
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


def _show(call: Call, ledger: Ledger) -> None:
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


def _told(call: Call, event: Event, copies: Sequence[Delivery]) -> Sequence[Told]:
    """Return an event's effect on the message, in words."""
    if event.action is Action.EVIDENCE:
        return (Told("evidence", f"{event.details['grade']}: {event.details['basis']}{_part(event, copies)}"),)
    if event.action is Action.OFFER_MADE:
        return (Told("offered", f"{event.agent}, for {event.details['turn']}{_part(event, copies)}"),)
    return call.run(Teller(call.services).tell(event))


def _part(event: Event, copies: Sequence[Delivery]) -> str:
    """Return the part of the message that an offer or evidence is about, or "" for the whole."""
    ids = {copy.id for copy in copies}
    shown = texts(event.details, "deliveries")
    found = zip(shown, extents(event.details, len(shown)), strict=True)
    cut = [str(part) for item, part in found if item in ids and part is not None and not part.is_whole]
    return f": {cut[0]}" if cut else ""
