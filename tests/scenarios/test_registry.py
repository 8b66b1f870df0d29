"""The registry: cards, and the presence of agents."""

from datetime import timedelta

import pytest

from covey.core.directory.card import Card, Presence, TaskOverflow
from covey.core.errors import IdentityRefused, RecipientUnknown, SessionEnded
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action
from covey.core.names import AgentName
from tests.scenarios.world import World, waiting

IDLE, BUSY, OFFLINE = Presence.IDLE, Presence.BUSY, Presence.OFFLINE


async def presence(world: World, name: str) -> Presence:
    """Return an agent's presence as other agents see it."""
    one = (await world.observer.agent(name)).presence
    (same,) = [view.presence for view in await world.observer.agents() if view.name == name]
    assert one is same
    return one


@pytest.mark.requirement("mailbox.registry")
async def test_the_card_is_configured_and_the_runtime_state_is_computed(world: World) -> None:
    registered_at = world.clock.now()
    await world.process().join(
        "coder",
        card={
            "description": "负责代码编写和修改的 agent",
            "capabilities": ["code_write", "test_run", "review"],
            "allow_from": ["researcher"],
            "allowed_delegates": ["*"],
            "quota": 2,
            "overflow": "reject",
            "workspace": "/srv/coder",
            "command": ["coder", "--serve"],
        },
    )
    world.pass_time(minutes=1)
    view = await world.observer.agent("coder")
    assert view.name == "coder"
    assert view.card == Card(
        description="负责代码编写和修改的 agent",
        capabilities=("code_write", "test_run", "review"),
        allow_from=("researcher",),
        quota=2,
        overflow=TaskOverflow.REJECT,
        workspace="/srv/coder",
        command=("coder", "--serve"),
    )
    assert (view.presence, view.current_tasks) == (IDLE, ())
    assert (view.registered_at, view.last_seen_at) == (registered_at, registered_at)


@pytest.mark.requirement("mailbox.registry")
async def test_joining_without_a_card_leaves_the_card_as_it_is(world: World) -> None:
    await world.process().join("coder", card={"description": "writes code"})
    registered_at = world.clock.now()
    world.pass_time(minutes=5)
    await world.process().join("coder")
    view = await world.observer.agent("coder")
    assert (view.card.description, view.registered_at) == ("writes code", registered_at)
    await world.process().join("coder", card=Card(description="reviews code"))
    view = await world.observer.agent("coder")
    assert (view.card.description, view.registered_at) == ("reviews code", registered_at)


@pytest.mark.requirement("mailbox.registry")
async def test_every_agent_is_listed_by_name_and_an_unknown_one_is_an_error(world: World) -> None:
    await world.join("zoe", "adam", "mike")
    assert [view.name for view in await world.observer.agents()] == ["adam", "mike", "zoe"]
    with pytest.raises(RecipientUnknown) as caught:
        await world.observer.agent("adan")
    assert caught.value.details["closest"] == ["adam"]


@pytest.mark.requirement("mailbox.registry")
async def test_an_agent_has_a_status(world: World) -> None:
    (bob,) = await world.join("bob")
    await bob.set_status("working on the parser")
    assert (await world.observer.agent("bob")).status == "working on the parser"
    await bob.leave()
    assert (await world.observer.agent("bob")).status == "working on the parser"


@pytest.mark.requirement("mailbox.registry")
async def test_a_card_without_a_session_is_offline_and_reachable(world: World) -> None:
    (alice,) = await world.join("alice")
    await world.services.directory.register(AgentName("coder"), Card(description="writes code"), alice.identity)
    view = await world.observer.agent("coder")
    assert (view.presence, view.sessions, view.last_seen_at) == (OFFLINE, (), None)
    await alice.send("coder", "hi")
    (coder,) = await world.join("coder")
    assert await waiting(coder) == ["hi"]


@pytest.mark.requirement("mailbox.presence")
async def test_idle_busy_offline_and_back(world: World) -> None:
    (bob,) = await world.join("bob")
    assert await presence(world, "bob") is IDLE
    await bob.set_busy()
    assert await presence(world, "bob") is BUSY
    await bob.set_busy(False)
    assert await presence(world, "bob") is IDLE
    await bob.leave()
    assert await presence(world, "bob") is OFFLINE
    await world.join("bob")
    assert await presence(world, "bob") is IDLE


@pytest.mark.requirement("mailbox.presence")
async def test_an_agent_with_one_busy_session_is_busy(world: World) -> None:
    first, _second = await world.join("bob", "bob")
    await first.set_busy()
    assert await presence(world, "bob") is BUSY
    world.kill(first)
    assert await presence(world, "bob") is IDLE


@pytest.mark.requirement("mailbox.presence")
async def test_a_killed_process_is_offline_for_everyone_at_once(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    before = await world.position()
    world.kill(bob)
    assert await presence(world, "bob") is OFFLINE
    assert await world.position() == before  # presence is computed when it is read
    receipt = await alice.send("bob", "hi", when_offline="refuse")
    assert [d.state for d in receipt.deliveries] == [DeliveryState.UNDELIVERABLE]
    (event,) = await world.events(Action.SESSION_ENDED)
    assert event.details["reason"] == "its process is gone"


@pytest.mark.requirement("mailbox.presence")
async def test_a_heartbeat_that_times_out_makes_an_agent_offline_for_everyone_else(world: World) -> None:
    (alice,) = await world.join("alice")
    far = await world.process().join("bob", kind="leased", lease=timedelta(seconds=60))
    for _ in range(3):
        world.pass_time(seconds=59)
        await far.heartbeat()
    assert await presence(world, "bob") is IDLE
    world.pass_time(seconds=61)
    assert await presence(world, "bob") is OFFLINE
    await alice.send("bob", "hi")
    (event,) = await world.events(Action.SESSION_ENDED)
    assert event.details["reason"] == "its heartbeat stopped"
    with pytest.raises(SessionEnded):
        await far.heartbeat()
    (heir,) = await world.join("bob")
    assert await waiting(heir) == ["hi"]


@pytest.mark.requirement("mailbox.presence")
async def test_an_attached_session_needs_no_heartbeat(world: World) -> None:
    await world.join("bob")
    world.pass_time(minutes=60 * 24)
    assert await presence(world, "bob") is IDLE


@pytest.mark.requirement("mailbox.presence")
async def test_a_client_s_session_lives_as_long_as_the_client_s_process(world: World) -> None:
    client = world.liveness.start(pid=4711, started="yesterday")
    await world.process().join("bob", kind="client", client_pid=4711)
    world.pass_time(minutes=60)
    assert await presence(world, "bob") is IDLE
    world.liveness.kill(client)
    assert await presence(world, "bob") is OFFLINE
    world.liveness.start(pid=4711, started="today")  # the same pid, but another process
    assert await presence(world, "bob") is OFFLINE


@pytest.mark.requirement("mailbox.presence")
async def test_a_client_whose_process_does_not_exist_cannot_join(world: World) -> None:
    before = await world.position()
    with pytest.raises(IdentityRefused):
        await world.process().join("bob", kind="client", client_pid=4711)
    assert await world.position() == before


@pytest.mark.requirement("mailbox.presence")
async def test_leaving_twice_does_nothing(world: World) -> None:
    (bob,) = await world.join("bob")
    await bob.leave()
    before = await world.position()
    await bob.leave()
    assert await world.position() == before
