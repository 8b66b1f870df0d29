"""Families: the children of one parent, also those of the parent's own agent, can write to and see each other, and the
parent can distinguish them."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from covey.core.attention.pending import AttentionOptions
from covey.core.attention.styles import RenderingStyle, broadcast_output, framed
from covey.core.ledger.message import Kind
from covey.surfaces.python.member import Errand, Member
from covey.toolkits.broadcast import TOOLKIT
from covey.toolkits.catalogue import HOMES, toolkit
from tests.scenarios.children import ended, household, lead_of
from tests.scenarios.tools import fields, use
from tests.scenarios.world import LIMIT_S, World, soon, waiting

TERMS = AttentionOptions(presentation=TOOLKIT.presentation, ways=TOOLKIT.ways)


class Present:
    """A child that stays until a test releases it."""

    def __init__(self) -> None:
        self._go = asyncio.Event()
        self._here: asyncio.Future[Member] = asyncio.get_running_loop().create_future()

    async def __call__(self, errand: Errand) -> str:
        self._here.set_result(errand.me)
        await self._go.wait()
        return f"Done: {errand.task}"

    async def member(self) -> Member:
        async with asyncio.timeout(LIMIT_S):
            return await self._here

    def let_go(self) -> None:
        self._go.set()


async def shown(world: World, member: Member) -> Mapping[str, Any]:
    """Return the content that a member's model is shown at its next fetch."""
    return broadcast_output(await world.services.attention.look(member.identity, TERMS))


async def others(world: World, member: Member) -> dict[str, str]:
    """Return the agents that a member's model is shown, with their status."""
    return {agent["name"]: agent["status"] for agent in (await shown(world, member))["agents"]}


@pytest.mark.requirement("broadcast.send", "broadcast.announce")
@pytest.mark.parametrize("agent", ["lead", "coder"])
async def test_children_of_one_parent_can_write_to_and_see_each_other(world: World, agent: str) -> None:
    """This includes children of the parent's own agent, which are the default."""
    front, back = Present(), Present()
    async with household(world):
        lead = await lead_of(world)
        await lead.set_status("Leading")
        await world.join("stranger", *(["coder"] if agent == "coder" else []))
        spawned = [
            await lead.spawn("Build the page", agent=agent, run=front, label="front"),
            await lead.spawn("Build the API", agent=agent, run=back, label="back"),
        ]
        a, b = await front.member(), await back.member()

        await use(a, "broadcast", "broadcast", message="Starting frontend work")
        assert (await others(world, b))["front"] == "Starting frontend work"
        assert "hint" in await shown(world, b), "another child has announced itself, and not this one"
        assert "hint" not in await shown(world, a)
        status = (await world.services.directory.agent(lead.name)).status
        assert status == "Leading", "a child has a status of its own"
        assert (await others(world, a))["lead"] == "Leading"
        assert "front" not in await others(world, a)

        await use(a, "broadcast", "broadcast", message="Half of it works")
        assert "Half of it works" in await waiting(b)
        assert "Half of it works" in await waiting(lead)
        asked = await use(a, "broadcast", "broadcast", send_to="back", message="Need the API schema")
        assert not asked.is_error, asked.text
        number = next(m["id"] for m in (await shown(world, b))["messages"] if m["content"] == "Need the API schema")
        await use(b, "broadcast", "broadcast", reply_to=number, message="Here it is")
        assert "Here it is" in await waiting(a)
        assert "Here it is" not in await waiting(lead), "a reply goes to the child that asked"

        told = await use(lead, "native", "list_agents")
        family = {entry["name"]: entry["status"] for entry in fields(told)["family"]}
        assert family["front"] == "Starting frontend work"
        assert set(family) == {"front", "back"}
        assert "front" in (await use(b, "native", "list_agents")).text
        to_all = await use(b, "peers", "send_to_peer", to="*", message="I am done")
        if agent == "lead":
            assert str(a.session.id) in fields(to_all)["delivered_to"]
        for child in (front, back):
            child.let_go()
        for child in spawned:
            await soon(child.result())
        assert await world.services.audit.check() == []


async def test_main_sessions_of_one_agent_do_not_get_each_others_broadcasts(world: World) -> None:
    first, second, other = await world.join("a", "a", "b")
    await first.send("*", "hello")
    assert await waiting(other) == ["hello"]
    assert not await waiting(second)


@pytest.mark.requirement("sessions.push")
@pytest.mark.parametrize("kit", sorted(HOMES))
async def test_a_parent_tells_its_children_apart(world: World, kit: str) -> None:
    async def remarking(errand: Errand) -> str:
        await errand.me.send("lead", f"I begin: {errand.task}")
        return f"Done: {errand.task}"

    async with household(world):
        lead = await lead_of(world)
        children = [await lead.spawn(f"Part {n}", run=remarking, label=f"part-{n}") for n in (1, 2)]
        for child in children:
            await ended(world, child.run_id)
        pending = await world.services.attention.look(lead.identity, AttentionOptions(ways=toolkit(kit).ways))
        results = [letter for letter in pending.letters if letter.kind is Kind.RESPONSE]
        assert len(results) == 2
        for child, letter in zip(children, sorted(results, key=lambda letter: letter.text), strict=True):
            alone = pending._replace(letters=(letter,), others=())
            for style in RenderingStyle:
                text = framed(alone, style)
                for word in (child.record.label, str(child.key), child.run_id, "completed"):
                    assert str(word) in text, (kit, style, word)
        remarks = [letter for letter in pending.letters if letter.kind is Kind.NOTIFY]
        assert {letter.child.label for letter in remarks if letter.child} == {"part-1", "part-2"}
