"""Servers that die, are stopped or cut off under load: every acknowledged operation is there once, on every machine."""

import json
from pathlib import Path

import pytest

import covey
from covey.adapters.nats.leases import LEASE_S
from covey.core.ledger.delivery import DeliveryState
from tests.chaos.nats_consumer import consumer, said
from tests.chaos.nats_faults import (
    all_nodes_are_long_gone,
    all_nodes_die,
    the_leader_dies,
    the_leader_is_cut_off,
)
from tests.chaos.nats_storm import storm
from tests.nats.machines import NoNamespaces
from tests.nats.partition import in_a_network_of_its_own
from tests.nats.servers import one_node

pytestmark = pytest.mark.chaos


@pytest.mark.timeout(900)
def test_twenty_dead_leaders_lose_duplicate_and_mix_up_nothing() -> None:
    storm(the_leader_dies, 20)


@pytest.mark.timeout(900)
def test_a_cluster_that_was_down_or_without_its_leader_keeps_all_records_and_sessions() -> None:
    """No session has ended meanwhile: an ended session would be an error for the worker that continues in it."""
    faults = (all_nodes_die, the_leader_is_cut_off, all_nodes_are_long_gone, the_leader_is_cut_off, all_nodes_die)
    following = iter(faults)
    storm(lambda under_way: next(following)(under_way), len(faults))


@pytest.mark.timeout(900)
def test_a_leader_that_loses_the_others_and_keeps_its_clients_loses_no_acknowledged_record() -> None:
    try:
        in_a_network_of_its_own("-m", "tests.chaos.nats_faults", "5", limit_s=540)
    except NoNamespaces as error:
        pytest.skip(f"network namespaces can't be made: {error}")


@pytest.mark.timeout(900)
async def test_messages_of_a_consumer_that_died_on_another_machine_are_offered_again(tmp_path: Path) -> None:
    with one_node(tmp_path / "server") as server:
        here, there = (f"{server.url}/far?cache={tmp_path / machine}" for machine in ("here", "there"))
        async with covey.open(there) as space:
            ann = await space.join("ann")
            with consumer("hold", here) as first:
                # Its session must exist, so that the message goes to the session.
                assert json.loads(said(first)) == {"offered": [], "task": None}
                asked = await ann.send("bob", "is it there?", kind="request", scope="scope")
                (copy,) = asked.delivered
                assert copy.inbox.startswith("session:"), copy
                first.kill()
                first.wait()
            bob = await space.join("bob")
            delivery = await bob.inbox.next(3 * LEASE_S)
            assert delivery is not None
            assert delivery.id == asked.message_id
            await delivery.reply("yes", close=True)
            (copy,) = (await space.receipt(asked.message_id)).deliveries
            assert copy.state is DeliveryState.HANDLED
            assert await space.services.audit.check() == []
