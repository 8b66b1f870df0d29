"""Session keys: the session that a key means, and its ancestry."""

import pytest

from covey.core.directory.session import Session
from covey.core.errors import IdentityRefused, LabelAmbiguous, SessionUnknown
from covey.core.identity import SessionKey, parse_session_key
from covey.core.names import AgentName, Label, SessionId
from covey.services.directory.directory import JoinRequest
from tests.scenarios.world import World, waiting

pytestmark = pytest.mark.requirement("sessions.key")


async def spawned(world: World, parent: SessionKey, name: str = "bob") -> Session:
    wish = JoinRequest(name=AgentName(name), parent=parent)
    return (await world.process().services.directory.join(wish)).session


async def test_the_main_session_has_the_bare_key_and_a_second_live_one_has_its_id_in_it(world: World) -> None:
    first, second, third = await world.join("bob", "bob", "bob")
    assert str(first.session.key) == "agent:bob:main"
    assert str(second.session.key) == f"agent:bob:main:{second.session.id}"
    assert str(third.session.key) == f"agent:bob:main:{third.session.id}"


async def test_the_bare_key_means_the_oldest_live_main_session(world: World) -> None:
    alice, first, second, third = await world.join("alice", "bob", "bob", "bob")
    await alice.send("agent:bob:main", "to the first")
    assert (await waiting(first), await waiting(second)) == (["to the first"], [])
    await first.dismiss((await first.inbox.peek())[0].id)
    world.kill(first)
    await alice.send("agent:bob:main", "to the second")
    assert (await waiting(second), await waiting(third)) == (["to the second"], [])


async def test_a_session_that_joins_while_a_main_one_lives_does_not_get_the_bare_key(world: World) -> None:
    _alice, first, second = await world.join("alice", "bob", "bob")
    world.kill(first)
    (third,) = await world.join("bob")
    assert str(third.session.key) == f"agent:bob:main:{third.session.id}"
    world.kill(second, third)
    (fourth,) = await world.join("bob")
    assert str(fourth.session.key) == "agent:bob:main"


async def test_a_child_s_key_shows_its_parent_its_depth_and_its_root(world: World) -> None:
    (bob,) = await world.join("bob")
    child = await spawned(world, bob.session.key)
    grandchild = await spawned(world, child.key)
    assert str(child.key) == f"agent:bob:subagent:{child.id}"
    assert str(grandchild.key) == f"agent:bob:subagent:{child.id}:subagent:{grandchild.id}"
    assert (bob.session.key.depth, child.key.depth, grandchild.key.depth) == (0, 1, 2)
    assert grandchild.key.parent == child.key
    assert child.key.parent == bob.session.key
    assert bob.session.key.parent is None
    assert grandchild.key.root == child.key.root == bob.session.key


async def test_keys_survive_being_written_and_read(world: World) -> None:
    (bob,) = await world.join("bob")
    child = await spawned(world, bob.session.key)
    grandchild = await spawned(world, child.key)
    for session in (bob.session, child, grandchild):
        assert parse_session_key(str(session.key)) == session.key
        assert (await world.services.directory.session(session.id)).key == session.key


async def test_the_key_of_a_child_of_another_agent_has_that_agents_name(world: World) -> None:
    (bob,) = await world.join("bob")
    child = await spawned(world, bob.session.key, "critic")
    assert str(child.key) == f"agent:critic:subagent:{child.id}"
    assert child.agent == "critic"


async def test_a_child_is_reached_by_its_key_and_is_not_the_main_session(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    child = await spawned(world, bob.session.key)
    await alice.send(str(child.key), "to the child")
    await alice.send("agent:bob:main", "to the main session")
    assert await waiting(bob) == ["to the main session"]
    (item,) = await world.services.inbox.peek_inbox(child.inbox)
    assert item.message.text == "to the child"


async def test_a_session_id_cannot_be_used_twice(world: World) -> None:
    own = "33333333-0000-4000-8000-000000000000"
    bob = await world.process().join("bob", session_id=own)
    assert bob.session.id == SessionId(own)
    before = await world.position()
    with pytest.raises(IdentityRefused):
        await world.process().join("bob", session_id=own)
    await bob.leave()
    after = await world.position()
    with pytest.raises(IdentityRefused):
        await world.process().join("bob", session_id=own)
    assert after > before
    assert await world.position() == after


async def test_a_label_names_one_live_session_or_is_refused_with_the_candidates(world: World) -> None:
    directory = world.services.directory
    with pytest.raises(SessionUnknown):
        await directory.labelled(Label("security"))
    one = await world.process().join("bob", label="security")
    assert (await directory.labelled(Label("security"))).id == one.session.id
    two = await world.process().join("carol", label="security")
    with pytest.raises(LabelAmbiguous) as raised:
        await directory.labelled(Label("security"))
    assert raised.value.details["keys"] == [str(one.session.key), str(two.session.key)]
    world.kill(one)
    assert (await directory.labelled(Label("security"))).id == two.session.id
