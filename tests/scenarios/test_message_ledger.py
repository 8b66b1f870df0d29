"""The ledger of one message: its complete history, without that of other messages."""

from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.ticket import TicketState
from covey.core.names import parse_message_id
from tests.scenarios.world import World, show


async def test_a_ledger_has_the_offers_and_the_evidence_that_name_the_message(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    await alice.send("bob", "earlier")
    earlier = await show(bob, "turn-1")
    await bob.confirm(earlier.offer.id, "witnessed", "of the earlier one")
    asked = await alice.send(["bob", "carol"], "shall I?", kind="request")
    returned = await show(bob, "turn-2")
    await bob.give_back(returned.offer.id, "the call failed")
    showing = await show(bob, "turn-3")
    await bob.confirm(showing.offer.id, "witnessed", "of the question")
    await bob.reply(asked.message_id, "yes", close=False)
    await carol.dismiss(asked.message_id)

    ledger = await world.services.history.ledger(parse_message_id(asked.message_id))
    assert ledger.message.text == "shall I?"
    assert [(d.agent, d.state) for d in ledger.deliveries] == [
        ("bob", DeliveryState.HANDLED),
        ("carol", DeliveryState.HANDLED),
    ]
    assert [(t.debtor, t.state) for t in ledger.tickets] == [("bob", TicketState.ANSWERED), ("carol", TicketState.OPEN)]
    assert [e.position for e in ledger.events] == sorted({e.position for e in ledger.events})
    assert ledger.events[0].action is Action.MESSAGE_SENT
    assert [e.details["turn"] for e in ledger.events if e.action is Action.OFFER_MADE] == ["turn-2", "turn-3"]
    assert [e.details["basis"] for e in ledger.events if e.action is Action.EVIDENCE] == ["of the question"]


async def test_an_offer_that_is_still_open_is_in_the_ledger(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    sent = await alice.send("bob", "look")
    before = await world.services.history.ledger(parse_message_id(sent.message_id))
    assert [e.action for e in before.events] == [Action.MESSAGE_SENT]
    await show(bob, "turn-1")
    after = await world.services.history.ledger(parse_message_id(sent.message_id))
    assert [e.action for e in after.events] == [Action.MESSAGE_SENT, Action.OFFER_MADE]
