"""Leaving: the report on the mail of an ended session, permission to end a session, and heartbeats of sessions in
occasional use."""

from datetime import timedelta

import pytest

from covey.adapters.memory import MemoryWakeups
from covey.core.errors import IdentityRefused, SessionEnded
from covey.core.ledger.event import Action
from covey.core.names import AgentName, message_topic
from covey.services.directory.presence import RemainingMail
from covey.surfaces.python.member import Member
from tests.scenarios.stores import in_memory
from tests.scenarios.world import LIMIT_S, World, ask_back


async def leased(world: World, name: str, seconds: int) -> Member:
    return await world.process().join(name, kind="leased", lease=timedelta(seconds=seconds))


async def test_a_leaving_session_learns_how_much_mail_was_parked_or_passed_on(world: World) -> None:
    first, lead = await world.join("coder", "lead")
    await lead.send("coder", "only the first has this")
    (second,) = await world.join("coder")
    await lead.send("coder", "both have this")
    leave = world.services.directory.leave
    assert await leave(first.identity) == RemainingMail(parked=0, passed_on=1)
    assert await leave(second.identity) == RemainingMail(parked=2, passed_on=0)
    assert await leave(second.identity) is None


async def test_only_the_agent_itself_and_the_operator_can_end_a_session_from_elsewhere(world: World) -> None:
    first, second, third, lead = await world.join("coder", "coder", "coder", "lead")
    leave = world.services.directory.leave
    with pytest.raises(IdentityRefused):
        await leave(lead.identity, session_id=first.session.id)
    assert await leave(second.identity, session_id=first.session.id) == RemainingMail()
    claimed = world.services.identities.claim(AgentName("coder"))
    assert await leave(claimed, session_id=second.session.id) == RemainingMail()
    assert await leave(await world.operator(), session_id=third.session.id) == RemainingMail()
    actors = [event.actor for event in await world.events(Action.SESSION_ENDED)]
    assert [str(actor) for actor in actors] == ["coder (session)", "coder (claimed)", "operator (token)"]


async def test_a_session_that_leaves_after_its_lease_ended_leaves_once(world: World) -> None:
    coder = await leased(world, "coder", 60)
    world.pass_time(seconds=61)
    assert await world.services.directory.leave(coder.identity) == RemainingMail()
    (event,) = await world.events(Action.SESSION_ENDED)
    assert event.details["reason"] == "left"


async def test_a_touch_renews_the_lease_only_if_the_last_heartbeat_is_not_recent(world: World) -> None:
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


async def test_a_listener_on_a_message_is_woken_when_it_is_adopted_and_when_its_debt_is_passed() -> None:
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
