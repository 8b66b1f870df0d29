"""Views of states that time has changed: they are current before a process has recorded the change."""

from datetime import timedelta

from covey.core.ledger.delivery import TIME_PASSED, DeliveryState
from covey.core.ledger.ticket import TicketTrouble
from covey.core.names import parse_message_id
from covey.core.work.task import MESSAGE_EXPIRED, TaskState
from tests.scenarios.world import World, show

MINUTE = timedelta(minutes=1)


async def test_a_receipt_says_that_a_message_has_expired_and_writes_nothing(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "quick!", expires_in=MINUTE)
    world.pass_time(minutes=1)
    before = await world.position()
    (copy,) = (await receipt.refresh()).deliveries
    assert (copy.state, copy.reason) == (DeliveryState.EXPIRED, TIME_PASSED)
    assert not await receipt.until("handled", timeout=0)
    (again,) = (await alice.send("bob", "quick!", id=receipt.message_id, expires_in=MINUTE)).deliveries
    assert again.state is DeliveryState.EXPIRED
    (ledger,) = (await world.services.history.ledger(receipt.message_id)).deliveries
    assert ledger == copy
    assert await world.position() == before
    await world.tend()
    assert await world.delivery(receipt.message_id) == copy._replace(updated_at=world.clock.now())


async def test_a_receipt_says_that_an_offer_whose_lease_has_ended_is_queued(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "read it")
    await show(bob)
    world.pass_time(minutes=10)
    (copy,) = (await receipt.refresh()).deliveries
    assert (copy.state, copy.offer) == (DeliveryState.QUEUED, None)


async def test_a_debt_says_that_its_request_has_expired(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request", scope="build", expires_in=MINUTE)
    other = await alice.send("bob", "and this?", kind="request", scope="build")
    world.pass_time(minutes=1)
    troubles = {receipt.message_id: TicketTrouble.EXPIRED, other.message_id: None}
    for tickets in (
        await bob.owed(),
        await world.services.dialogue.owed_to(alice.name),
        (await alice.gate("build")).owed,
        (await world.services.history.ledger(receipt.message_id)).tickets,
        [await world.ticket(receipt.message_id, "bob"), await world.ticket(other.message_id, "bob")],
    ):
        assert tickets
        assert all(ticket.trouble is troubles[ticket.message_id] for ticket in tickets)


async def test_a_task_whose_message_has_expired_has_failed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    late = await alice.delegate("bob", "write it", expires_in=MINUTE)
    taken = await alice.delegate("bob", "and this", expires_in=MINUTE)
    assignment = await bob.take(timeout=0)
    assert assignment is not None
    world.pass_time(minutes=1)
    waiting = taken if assignment.id == late.id else late
    view = await world.services.tasks.view(parse_message_id(waiting.id))
    assert (view.task.state, view.task.reason) == (TaskState.FAILED, MESSAGE_EXPIRED)
    held = await world.services.tasks.view(parse_message_id(assignment.id))
    assert not held.task.is_finished
