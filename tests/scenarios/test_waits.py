"""Waits: an ask or a task that would close a circle of waits is refused with its path.

A question back closes none.
"""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta

import pytest

from covey.core.errors import WaitCircle
from covey.core.identity import parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.outcome import Outcome, OutcomeKind
from covey.core.ledger.waits import Edge, circles
from covey.core.names import JOURNAL_TOPIC, MessageId, TicketId
from covey.ports.store import Transaction
from covey.services.mail.recipients import SendPolicy
from covey.services.tasks.tasks import TaskView
from covey.surfaces.python.member import Member
from tests.scenarios.world import LIMIT_S, World, soon

LONG = 600.0


class Asking:
    """Asks that wait in the background. Those left at the end are cancelled."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tasks: list[asyncio.Task[Outcome]] = []

    async def begin(self, asker: Member, awaited: str, text: str = "?") -> asyncio.Task[Outcome]:
        """Let a member ask. Return as soon as it waits."""
        task = asyncio.create_task(asker.ask(awaited, text, timeout=LONG))
        self._tasks.append(task)

        async def look() -> bool | None:
            if task.done():
                task.result()
            edges = await self._world.services.waits.graph()
            return any(e.is_wait and (e.waiter, e.awaited) == (asker.name, awaited) for e in edges) or None

        assert await soon(self._world.services.waiting.until([JOURNAL_TOPIC], look, LIMIT_S))
        return task

    async def __aenter__(self) -> "Asking":
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def answer(member: Member, text: str) -> None:
    """Let a member answer the oldest question that it owes."""
    owed = await member.owed()
    await member.reply(owed[0].message_id, text)


async def delegate(world: World, member: Member, to: str, *, relaying: MessageId | None = None) -> TaskView:
    """Delegate a task and wait for it, as a CLI command does in a terminal."""
    draft = Draft(Kind.TASK, (parse_address(to),), (TextPart("do it"),), relaying=relaying)
    return await world.services.tasks.delegate(draft, member.identity, SendPolicy(waits=LONG))


async def is_refused(world: World, asker: Member, asked: Coroutine[object, object, object]) -> bool:
    """Return whether an ask is refused because of a circle. An accepted one is cancelled as soon as it waits."""

    async def waits(tx: Transaction) -> set[str]:
        return {wait.what for wait in await tx.waits.of(asker.name)}

    store = world.observer.store
    before = await store.read(waits)
    task = asyncio.ensure_future(asked)

    async def look() -> bool | None:
        return (task.done() or bool(await store.read(waits) - before)) or None

    assert await soon(world.services.waiting.until([JOURNAL_TOPIC], look, LIMIT_S))
    for what in await store.read(waits) - before:
        await world.services.waits.end(TicketId(what), asker.identity)
    task.cancel()
    (end,) = await asyncio.gather(task, return_exceptions=True)
    assert isinstance(end, WaitCircle | asyncio.CancelledError)
    return isinstance(end, WaitCircle)


@pytest.mark.requirement("storm.cycle")
async def test_a_circle_of_three_asks_is_refused_with_its_path(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    async with Asking(world) as asking:
        first = await asking.begin(alice, "bob")
        second = await asking.begin(bob, "carol")
        with pytest.raises(WaitCircle) as caught:
            await soon(carol.ask("alice", "and you?", timeout=LONG))
        assert caught.value.details["path"] == ["carol", "alice", "bob", "carol"]
        assert "carol → alice → bob → carol" in caught.value.message
        waits = caught.value.details["waits"]
        asked = [(await member.owed())[0].id for member in (bob, carol)]
        assert waits == [f"alice waits for bob (ticket {asked[0]})", f"bob waits for carol (ticket {asked[1]})"]
        assert not await alice.owed()  # the refused question was not sent
        await answer(carol, "yes")
        assert (await soon(_outcome(second))).text == "yes"
        await answer(bob, "then yes")
        assert (await soon(_outcome(first))).text == "then yes"
    assert await world.services.waits.graph() == []
    assert not await is_refused(world, carol, carol.ask("alice", "and now?", timeout=LONG))


async def _outcome(task: "asyncio.Task[Outcome]") -> Outcome:
    return await task


@pytest.mark.requirement("storm.cycle")
async def test_a_question_back_in_the_same_thread_is_no_circle(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    async with Asking(world) as asking:
        await asking.begin(alice, "bob")
        (owed,) = await bob.owed()
        assert await is_refused(world, bob, bob.ask("alice", "which one?", timeout=LONG))
        back = bob.ask("alice", "which one?", timeout=LONG, in_reply_to=owed.message_id)
        assert not await is_refused(world, bob, back)


@pytest.mark.requirement("storm.cycle")
async def test_a_circle_over_tasks_is_refused_with_its_path(world: World) -> None:
    alice, bob, carol, dave = await world.join("alice", "bob", "carol", "dave")
    whole = await delegate(world, alice, "bob")
    part = await bob.delegate("carol", "a part of it", relaying=whole.task.id)
    async with Asking(world) as asking:
        await asking.begin(carol, "dave")
        with pytest.raises(WaitCircle) as caught:
            await soon(dave.ask("alice", "may I?", timeout=LONG))
        assert caught.value.details["path"] == ["dave", "alice", "bob", "carol", "dave"]
        assert f"alice waits for bob (task {whole.task.id})" in caught.value.message
        assert f"bob waits for carol (task {part.id})" in caught.value.message
        with pytest.raises(WaitCircle):
            await soon(delegate(world, dave, "alice"))
        assert [view.task.id for view in await world.services.tasks.tree(whole.task.id)] == [whole.task.id, part.id]
        # The worker of a task may ask about it, and a delegator that does not wait for the task answers.
        assert not await is_refused(world, carol, carol.ask("bob", "which one?", timeout=LONG))
        back = bob.ask("alice", "which one?", timeout=LONG, in_reply_to=whole.task.id)
        assert not await is_refused(world, bob, back)


async def test_a_finished_task_is_no_wait(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await delegate(world, alice, "bob")
    assert await is_refused(world, bob, bob.ask("alice", "may I?", timeout=LONG))
    work = await bob.take(timeout=0, start=True)
    assert work is not None
    await work.complete("done")
    assert not await is_refused(world, bob, bob.ask("alice", "may I?", timeout=LONG))


async def test_a_debt_without_a_wait_closes_no_circle(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "tell me when you can", kind="request")
    await alice.delegate("bob", "do it when you can")
    assert not await is_refused(world, bob, bob.ask("alice", "which one?", timeout=LONG))
    edges = await world.services.waits.graph()
    assert {(e.waiter, e.awaited, e.is_task) for e in circles(edges)} >= {
        ("alice", "bob", True),
        ("bob", "alice", False),
    }


async def test_a_wait_that_timed_out_or_whose_session_died_does_not_count(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    async with Asking(world) as asking:
        await asking.begin(alice, "carol")
        await asking.begin(bob, "carol")
        for name in ("alice", "bob"):
            assert await is_refused(world, carol, carol.ask(name, "may I?", timeout=LONG))
        world.kill(bob)
        assert not await is_refused(world, carol, carol.ask("bob", "may I?", timeout=LONG))
        world.pass_time(seconds=LONG)
        assert not await is_refused(world, carol, carol.ask("alice", "may I?", timeout=LONG))


async def test_no_circle_goes_through_an_agent_with_a_session_that_can_answer(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    async with Asking(world) as asking:
        await asking.begin(alice, "bob")
        (sibling,) = await world.join("alice")
        assert not await is_refused(world, bob, bob.ask("alice", "may I?", timeout=LONG))
        await sibling.leave()
        assert await is_refused(world, bob, bob.ask("alice", "may I?", timeout=LONG))


async def test_a_program_that_answers_while_it_asks_is_in_no_circle(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    async with Asking(world) as asking:
        serving = asyncio.create_task(alice.ask("bob", "?", timeout=LONG, answers_meanwhile=True))
        await world.is_owed(alice)
        await asking.begin(bob, "alice")
        await answer(alice, "ask away")
        await answer(bob, "thanks")
        assert (await soon(_outcome(serving))).text == "thanks"


async def test_resuming_an_ask_is_a_wait_too(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.ask("bob", "?", timeout=0)
    async with Asking(world) as asking:
        await asking.begin(bob, "alice")
        assert await is_refused(world, alice, alice.resume(asked.ticket.id, timeout=LONG))
        assert (await alice.resume(asked.ticket.id, timeout=0)).kind is OutcomeKind.DELIVERED_NO_REPLY


@pytest.mark.requirement("storm.cycle")
async def test_a_cancelled_waiter_is_in_no_circle(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    async with Asking(world) as asking:
        asked = await asking.begin(alice, "bob")
        assert await is_refused(world, bob, bob.ask("alice", "?", timeout=LONG))
        asked.cancel()
        await asyncio.wait({asked})
        assert not await is_refused(world, bob, bob.ask("alice", "?", timeout=LONG))
        (owed,) = await bob.owed()
        resumed = asyncio.create_task(alice.resume(owed.id, timeout=LONG))
        await world.services.waiting.until([JOURNAL_TOPIC], lambda: _waits(world, alice), LIMIT_S)
        resumed.cancel()
        await asyncio.wait({resumed})
        said = asyncio.create_task(alice.say(str(bob.session.key), "?", timeout=LONG))
        await world.services.waiting.until([JOURNAL_TOPIC], lambda: _waits(world, alice), LIMIT_S)
        said.cancel()
        await asyncio.wait({said})
        assert not await _waits(world, alice)


async def _waits(world: World, member: Member) -> bool | None:
    """Return True if a member's wait is in the graph, otherwise None."""
    return any(edge.is_wait and edge.waiter == member.name for edge in await world.services.waits.graph()) or None


@pytest.mark.requirement("storm.cycle")
async def test_of_two_agents_that_ask_each_other_at_once_one_is_refused(world: World) -> None:
    for n in range(10):
        alice, bob = await world.join(f"alice{n}", f"bob{n}")
        asks = (alice.ask(bob.name, "?", timeout=LONG), bob.ask(alice.name, "?", timeout=LONG))
        tasks = [asyncio.create_task(ask) for ask in asks]
        done, waiting = await asyncio.wait(tasks, timeout=LIMIT_S, return_when=asyncio.FIRST_COMPLETED)
        assert [type(task.exception()) for task in done] == [WaitCircle]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_the_graph_shows_the_waiter_the_awaited_agent_and_the_times_of_a_wait(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    began = world.clock.now()
    async with Asking(world) as asking:
        await asking.begin(alice, "bob")
        (owed,) = await bob.owed()
        (edge,) = await world.services.waits.graph()
        assert edge == Edge(alice.name, bob.name, owed.id, began, began + timedelta(seconds=LONG))
        world.pass_time(seconds=LONG)
        (edge,) = await world.services.waits.graph()
        assert edge.until is None  # the answer is owed, but no session waits for it
