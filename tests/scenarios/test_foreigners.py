"""Foreign programs on the peers' wire: reachable while they are active, and then removed from listings."""

from datetime import timedelta

import pytest

from covey.core.directory.session import FOREIGN
from covey.core.errors import IdentityRefused, Invalid
from covey.core.formats.peers import InboxMessage
from covey.core.identity import Grade, Identity
from covey.core.limits import UNREGISTERED_WAIT
from covey.core.names import AgentName, SessionId, parse_session_id
from covey.services.peers.foreign_agents import ForeignAgents
from covey.services.space import Services
from covey.testing.fakes import numbered_uuid
from tests.scenarios.world import World

GOAL = parse_session_id(str(numbered_uuid(77)))
SHORTLY = UNREGISTERED_WAIT / 2
OVER = UNREGISTERED_WAIT + timedelta(seconds=1)


def said(world: World, name: str = "kate.v2", goal: SessionId = GOAL) -> InboxMessage:
    return InboxMessage(name, goal, "coder", "hello", world.clock.now())


async def greet(world: World, message: InboxMessage) -> Identity:
    process = world.process()
    return await ForeignAgents(process.store, world.clock).greet(message)


async def listed(services: Services) -> list[str]:
    return [view.name for view in await services.directory.agents()]


async def test_a_foreign_program_is_an_agent_whose_goal_is_a_session(world: World) -> None:
    (coder,) = await world.join("coder")
    assert await greet(world, said(world)) == Identity(AgentName("kate-v2"), GOAL, Grade.CLAIMED)
    assert await listed(world.services) == ["coder", "kate-v2"]
    receipt = await coder.send("kate-v2", "hello")
    assert [delivery.session for delivery in receipt.delivered] == [GOAL]


async def test_a_program_that_was_silent_for_ten_minutes_is_not_listed_and_gets_no_parked_mail(world: World) -> None:
    (coder,) = await world.join("coder")
    await greet(world, said(world))
    world.pass_time(seconds=SHORTLY.total_seconds())
    await greet(world, said(world))
    world.pass_time(seconds=SHORTLY.total_seconds() + 1)
    assert "kate-v2" in await listed(world.services)
    world.pass_time(seconds=OVER.total_seconds())
    assert await listed(world.services) == ["coder"]
    receipt = await coder.send("kate-v2", "too late")
    assert not receipt.delivered
    await greet(world, said(world))
    assert "kate-v2" in await listed(world.services)


async def test_mail_that_waits_for_a_foreign_program_expires(world: World) -> None:
    (coder,) = await world.join("coder")
    await greet(world, said(world))
    receipt = await coder.send("kate-v2", "hello")
    (delivery,) = await world.deliveries(receipt.message_id)
    assert delivery.expires_at == world.clock.now() + UNREGISTERED_WAIT


async def test_a_foreign_program_takes_no_tasks(world: World) -> None:
    (coder,) = await world.join("coder")
    await greet(world, said(world))
    task = await coder.delegate("kate-v2", "sort this")
    assert "takes no tasks" in str(task.reason)


async def test_two_programs_with_similar_names_stay_distinct(world: World) -> None:
    other = parse_session_id(str(numbered_uuid(78)))
    one = await greet(world, said(world))
    two = await greet(world, said(world, "kate-v2", other))
    three = await greet(world, said(world, "kate/v2", parse_session_id(str(numbered_uuid(79)))))
    assert [one.agent, two.agent, three.agent] == ["kate-v2", "kate-v2-wire", "kate-v2-wire2"]
    assert (await greet(world, said(world, "kate-v2", other))).agent == "kate-v2-wire"


async def test_a_foreign_program_cannot_take_the_session_of_an_agent_of_the_space(world: World) -> None:
    (coder,) = await world.join("coder")
    with pytest.raises(IdentityRefused, match="is a session of coder"):
        await greet(world, said(world, goal=coder.session.id))


async def test_a_goal_stays_with_its_first_program_while_that_program_is_active(world: World) -> None:
    await greet(world, said(world))
    with pytest.raises(IdentityRefused, match="is a session of kate-v2"):
        await greet(world, said(world, "mallory"))
    world.pass_time(seconds=OVER.total_seconds())
    assert (await greet(world, said(world, "mallory"))).agent == "mallory"


async def test_an_agent_that_joins_under_a_foreign_name_gets_its_mail_alone(world: World) -> None:
    (coder,) = await world.join("coder")
    await greet(world, said(world, "alien"))
    (alien,) = await world.join("alien")
    receipt = await coder.send("alien", "for you")
    assert [delivery.session for delivery in receipt.delivered] == [alien.session.id]
    assert (await greet(world, said(world, "alien"))).agent == "alien-wire"


@pytest.mark.parametrize("kind", sorted(FOREIGN))
async def test_no_session_joins_as_a_foreign_program(world: World, kind: str) -> None:
    with pytest.raises(Invalid):
        await world.process().join("coder", kind=kind)  # pyright: ignore[reportArgumentType] # wrong on purpose


async def test_a_card_cannot_declare_its_agent_foreign(world: World) -> None:
    await world.process().join("coder", card={"wire_name": "x", "description": "codes"})
    (view,) = await world.services.directory.agents()
    assert view.card.wire_name is None
