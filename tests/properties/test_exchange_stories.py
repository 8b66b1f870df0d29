"""Random loops are stopped, and random work never is.

The scenarios show that each plain loop is stopped within 500 messages.
"""

import asyncio
from collections.abc import Coroutine
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from covey.core.errors import ExchangeStorm
from covey.core.ledger.event import Action
from covey.core.limits import FLOW_SAMPLE
from covey.core.names import OPERATOR, SPACE
from covey.core.storms.budget import Limit, Limits
from covey.surfaces.python.member import Member
from tests.scenarios.stores import in_memory
from tests.scenarios.world import World

ENOUGH = 1_000
"""Limit of messages.

Answers to new questions do not count, so a loop that is full of them takes longer than a plain one.
"""
FEW = settings(max_examples=10)
WORDS = ("parser", "branch", "deploy", "release", "green", "thanks", "again", "why", "node", "later")


def in_a_world(story: Coroutine[Any, Any, None]) -> None:
    """Run a story to its end."""
    asyncio.run(story)


def says(random: Random, n: int) -> str:
    """Return a text: always the same, always new, or with a counter."""
    style = random.randrange(3)
    if style == 0:
        return "go on"
    return f"step {n}" if style == 1 else " ".join(random.choices(WORDS, k=6)) + f" {random.random()}"


class Loop:
    """Agents in a circle: each writes to the next one, or to all, in a random way."""

    def __init__(self, world: World, members: list[Member], random: Random) -> None:
        self._world = world
        self._members = members
        self._random = random
        self.accepted = 0

    async def step(self, n: int) -> None:
        size = len(self._members)
        sender, to = self._members[n % size], self._members[(n + 1) % size]
        for _ in range(self._random.randint(1, 2)):
            await self._speak(sender, to, says(self._random, n))
        self._world.pass_time(seconds=self._random.choice((0, 0.01, 20)))

    async def _speak(self, sender: Member, to: Member, text: str) -> None:
        match self._random.randrange(4):
            case 0:
                asked = await sender.ask(to.name, text, timeout=0)
                await to.reply(asked.ticket.message_id, text)
                self.accepted += 2
            case 1 if len(self._members) <= 3:
                await sender.send("*", text)
                self.accepted += 1
            case _:
                await sender.send(to.name, text)
                self.accepted += 1


@FEW
@given(size=st.integers(2, 4), seed=st.integers(0, 2**32), noise=st.integers(0, 3))
def test_a_loop_of_any_texts_kinds_and_pace_is_stopped_and_reported_once(size: int, seed: int, noise: int) -> None:
    async def story() -> None:
        world, random = World(in_memory()), Random(seed)
        *members, stranger = await world.join("alice", "bob", "carol", "dan", "eve")
        loop = Loop(world, members[:size], random)
        error: ExchangeStorm | None = None
        for n in range(ENOUGH):
            try:
                for _ in range(random.randint(0, noise)):  # messages of other agents do not hide the loop
                    await stranger.send(random.choice(members[:size]).name, f"by the way, {n}")
                await loop.step(n)
            except ExchangeStorm as stopped:
                error = stopped
                break
        assert error is not None
        assert loop.accepted <= ENOUGH
        items = await world.services.inbox.peek(OPERATOR, limit=100)
        assert len([item for item in items if item.message.sender.agent == SPACE]) == 1
        await world.close()

    in_a_world(story())


@FEW
@given(seed=st.integers(0, 2**32), workers=st.integers(1, 4))
def test_a_coordinator_with_workers_is_never_stopped(seed: int, workers: int) -> None:
    async def story() -> None:
        world, random = World(in_memory()), Random(seed)
        await world.services.storms.set_limits({Limit.EXCHANGE: FLOW_SAMPLE}, await world.operator())
        lead, *team = await world.join("lead", *(f"worker-{n}" for n in range(workers)))
        for n in range(80):
            worker = random.choice(team)
            await lead.delegate(worker.name, says(random, n))
            work = await worker.take(timeout=0, start=True)
            assert work is not None
            for _ in range(random.randint(0, 3)):
                await work.progress(says(random, n))
            await (work.fail("it broke") if random.random() < 0.1 else work.complete(says(random, n)))
        assert not await world.events(Action.STORM_STOPPED)
        await world.close()

    in_a_world(story())


@FEW
@given(seed=st.integers(0, 2**32))
def test_flows_without_a_circle_are_never_stopped(seed: int) -> None:
    """Agents in a row: each writes to some of those after it, in floods, broadcasts and pipelines."""

    async def story() -> None:
        world, random = World(in_memory()), Random(seed)
        await world.services.storms.set_limits({Limit.EXCHANGE: 1}, await world.operator())
        row = await world.join("a", "b", "c", "d", "e")
        for n in range(150):
            at = random.randrange(len(row) - 1)
            later = [member.name for member in row[at + 1 :]]
            some = random.sample(later, random.randint(1, len(later)))
            for _ in range(random.choice((1, 1, 5))):
                await row[at].send(some if len(some) > 1 else some[0], says(random, n))
        assert not await world.events(Action.STORM_STOPPED)
        await world.close()

    in_a_world(story())


def test_a_flood_of_ten_thousand_messages_passes_with_the_default_limits() -> None:
    async def story() -> None:
        world = World(in_memory())
        alice, _bob = await world.join("alice", "bob")
        assert await world.services.storms.limits() == Limits()
        for n in range(10_000):
            await alice.send("bob", f"news {n}")
        assert not await world.services.storms.exchanges()
        await world.close()

    in_a_world(story())
