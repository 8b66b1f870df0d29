"""Leaving: what a session that ends says of its mail, who may end it, and what keeps one alive that is used now and
then."""

from datetime import timedelta

import pytest

from covey.adapters.memory import MemoryWakeups
from covey.core.errors import IdentityRefused, SessionEnded
from covey.core.ids import message_topic
from covey.core.ledger.event import Action
from covey.core.names import AgentName
from covey.services.directory.presence import Leftovers
from covey.surfaces.python.member import Member
from tests.scenarios.stores import in_memory
from tests.scenarios.world import LIMIT_S, World, ask_back


async def leased(world: World, name: str, seconds: int) -> Member:
    return await world.process().join(name, kind="leased", lease=timedelta(seconds=seconds))


async def test_who_leaves_is_told_what_was_parked_and_what_a_sibling_got(world: World) -> None:
    first, lead = await world.join("coder", "lead")
    await lead.send("coder", "only the first has this")
    (second,) = await world.join("coder")
    await lead.send("coder", "both have this")
    leave = world.services.directory.leave
    assert await leave(first.identity) == Leftovers(parked=0, passed_on=1)
    assert await leave(second.identity) == Leftovers(parked=2, passed_on=0)
    assert await leave(second.identity) is None


async def test_a_session_is_ended_from_elsewhere_by_its_own_agent_and_the_operator_only(world: World) -> None:
    first, second, third, lead = await world.join("coder", "coder", "coder", "lead")
    leave = world.services.directory.leave
    with pytest.raises(IdentityRefused):
        await leave(lead.identity, session_id=first.session.id)
    assert await leave(second.identity, session_id=first.session.id) == Leftovers()
    claimed = world.services.identities.claim(AgentName("coder"))
    assert await leave(claimed, session_id=second.session.id) == Leftovers()
    assert await leave(await world.operator(), session_id=third.session.id) == Leftovers()
    actors = [event.actor for event in await world.events(Action.SESSION_ENDED)]
    assert [str(actor) for actor in actors] == ["coder (session)", "coder (claimed)", "operator (token)"]


async def test_one_that_leaves_when_its_heartbeat_has_stopped_leaves_once(world: World) -> None:
    coder = await leased(world, "coder", 60)
    world.pass_time(seconds=61)
    assert await world.services.directory.leave(coder.identity) == Leftovers()
    (event,) = await world.events(Action.SESSION_ENDED)
    assert event.details["reason"] == "left"


async def test_a_touch_is_a_sign_of_life_where_the_last_one_is_not_fresh(world: World) -> None:
    coder = await leased(world, "coder", 60)
    joined_at = coder.session.seen_at
    directory = world.services.directory
    world.pass_time(seconds=14)
    await directory.touch(coder.identity)
    assert (await directory.session(coder.session.id)).seen_at == joined_at
    world.pass_time(seconds=1)
    await directory.touch(coder.identity)
    assert (await directory.session(coder.session.id)).seen_at == world.clock.now()
    await coder.leave()
    with pytest.raises(SessionEnded):
        await directory.touch(coder.identity)


async def test_who_listens_to_a_message_hears_that_it_was_adopted_and_that_its_debt_was_passed() -> None:
    wakeups = MemoryWakeups()
    world = World(in_memory(), wakeups)
    (lead,) = await world.join("lead")
    request = await lead.send("critic", "done?", kind="request", when_unknown="register")
    async with wakeups.listen([message_topic(request.message_id)]) as bell:
        (critic,) = await world.join("critic")
        assert await bell.wait(LIMIT_S)
        question = await ask_back(world, critic, request.message_id, "which one?")
        assert await bell.wait(LIMIT_S)
        await lead.reply(question, "the first")
        assert await bell.wait(LIMIT_S), "the debt has come home"
    await world.close()
