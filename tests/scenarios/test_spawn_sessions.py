"""Children in session mode: conversations with people, siblings, and views of runs."""

from typing import Any, cast

import pytest

from covey.core.channels.channel import console
from covey.core.errors import (
    Invalid,
    NoParent,
)
from covey.core.identity import Identity, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import Callback
from covey.core.names import AgentName, parked_inbox
from covey.core.work.run import Run, RunMode, RunState
from covey.ports.store import Transaction
from covey.ports.work import RunFilter
from covey.services.channels.channels import PersonMessage
from covey.surfaces.python.member import Errand
from tests.scenarios.children import (
    Patient,
    alive,
    bindings,
    household,
    lead_of,
    obliging,
    spawn_from,
    until,
)
from tests.scenarios.world import LIMIT_S, World, soon, waiting

OPS = AgentName("ops")
OWNER = Identity(AgentName("owner"))


# -------------------------------------------------------------------------------------------------------- threads


@pytest.mark.requirement("sessions.thread", "sessions.mode.session")
async def test_a_child_in_session_mode_talks_with_its_parent_and_with_people(world: World) -> None:
    heard: list[tuple[str, str]] = []

    async def chatty(errand: Errand) -> str:
        if not heard:
            await errand.me.send("ops", "I am looking at it.")
        heard.append((errand.task, errand.prompt))
        return f"You said: {errand.task}"

    async with household(world):
        lead = await lead_of(world)
        await world.services.channels.add(console(OPS), OWNER)
        child = await lead.spawn(
            "Review with me", agent="critic", mode="session", thread=("ops", "pr-7"), run=chatty, label="review"
        )
        first = await soon(child.result())
        assert first is not None
        assert first.text == "You said: Review with me"
        answer = await soon(lead.ask(str(child.key), "And the tests?"))
        assert answer.text == "You said: And the tests?"
        before, _, now = heard[1][1].partition("The new message to you:")
        assert "And the tests?" not in before
        assert '<message from="lead">\nAnd the tests?\n</message>' in now
        assert '<message from="you">\nYou said: Review with me\n</message>' in before
        await world.services.channels.hear(PersonMessage(OPS, "pr-7", "Is it safe?", person="Ada"))

        async def are_posted() -> bool:
            return len(await _posts(world)) == 4

        await until(world, are_posted)
        assert await _posts(world) == [
            ("pr-7", "I am looking at it."),
            ("pr-7", "You said: Review with me"),
            ("pr-7", "You said: And the tests?"),
            ("pr-7", "You said: Is it safe?"),
        ]
        assert '<message from="Ada (a person, through ops)">\nIs it safe?' in heard[2][1]
        assert (await child.refresh()).state is RunState.RUNNING
        await soon(child.stop("done"))
        assert child.state is RunState.STOPPED
        assert await bindings(world) == []


async def test_a_child_in_session_mode_that_fails_at_one_message_continues_with_the_next(world: World) -> None:
    async def moody(errand: Errand) -> str:
        if errand.task == "fail":
            raise ValueError("not today")
        return "well"

    async with household(world):
        lead = await lead_of(world)
        await world.services.channels.add(console(OPS), OWNER)
        child = await lead.spawn("fail", agent="critic", mode="session", thread=True, run=moody)
        first = await soon(child.result())
        assert first is not None
        assert (first.status, first.text) == (RunState.FAILED, "ValueError: not today")
        receipt = await child.send("again", kind="request")
        answer = await soon(lead.resume(f"{receipt.message_id}@critic"))
        assert answer.text == "well"
        with pytest.raises(Invalid):
            await child.send("again", kind=cast(Any, "task"))
        await soon(child.stop())


async def test_a_parent_is_notified_of_the_end_of_a_child_in_session_mode(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        await world.services.channels.add(console(OPS), OWNER)
        elsewhere = world.process()
        holder = await elsewhere.join("holder")
        child = await lead.spawn("Stay", agent="critic", mode="session", thread=True, run=obliging)
        await soon(child.result())
        other = await spawn_from(elsewhere, lead, "Stay", obliging, mode=RunMode.SESSION, thread=True)
        await soon(world.services.spawning.result(other.id, lead.identity, LIMIT_S))
        assert await waiting(lead) == []
        await soon(world.services.spawning.stop(child.run_id, await world.operator(), "the office closes"))
        world.kill(holder)
        await world.tend()
        assert await waiting(lead) == [
            f"The child {child.key} has ended: the office closes.",
            f"The child {other.key} has ended: its process is gone.",
        ]
        assert await bindings(world) == []


async def test_a_new_thread_is_on_the_channel_that_is_bound_to_the_parent(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        for name in ("ops", "team"):
            await world.services.channels.add(console(AgentName(name)), OWNER)
        with pytest.raises(Invalid, match="the channels are ops, team"):
            await lead.spawn("Stay", mode="session", thread=True, run=obliging)
        await world.services.channels.bind(AgentName("team"), "general", parse_address("lead"), OWNER)
        child = await lead.spawn("Stay", mode="session", thread=True, run=obliging, label="helper")
        assert child.record.thread == Callback("team", "helper")
        with pytest.raises(Invalid, match="is bound to"):
            await lead.spawn("Stay", mode="session", thread=("team", "helper"), run=obliging)
        await soon(child.stop())


# ------------------------------------------------------------------------------------------------------- siblings


async def test_a_sibling_is_a_child_of_the_same_parent_who_gets_its_result(world: World) -> None:
    started: list[Run] = []

    async with household(world):
        process = world.process()
        lead = await process.join("lead")

        async def helpless(errand: Errand) -> str:
            started.append(await spawn_from(process, errand.me, "Help me", obliging, is_sibling=True))
            return "asked for help"

        child = await lead.spawn("Go", agent="coder", run=helpless)
        await soon(child.result())
        (sibling,) = started
        assert (sibling.parent, sibling.parent_agent, sibling.agent) == (lead.session.id, "lead", "coder")
        assert sibling.sibling_of == child.record.session
        assert sibling.key.depth == 1
        result = await soon(process.services.spawning.result(sibling.id, lead.identity, 10))
        assert result is not None
        assert result.text == "Done: Help me"
        with pytest.raises(NoParent):
            await spawn_from(process, lead, "Help me", obliging, is_sibling=True)


# ---------------------------------------------------------------------------------------------------------- views


async def test_runs_are_shown_as_a_tree_each_after_its_parent(world: World) -> None:
    patient = Patient()

    async def nesting(errand: Errand) -> str:
        inner = await errand.me.spawn("Deeper", run=patient, label="inner")
        return str((await inner.result(timeout=60)) is not None)

    async with household(world):
        lead = await lead_of(world, max_depth=2)
        first = await lead.spawn("Nest", run=nesting, label="first")
        second = await lead.spawn("Wait", run=patient, label="second")
        await soon(patient.begun.wait())

        async def are_three() -> bool:
            return len(await alive(world)) == 3

        await until(world, are_three)
        tree = await world.services.runs.tree(lead.session.id)
        assert [(view.run.label, view.depth) for view in tree] == [("first", 0), ("inner", 1), ("second", 0)]
        patient.let_go()
        await soon(first.result())
        await soon(second.result())
        assert len(await world.services.runs.tree(lead.session.id, with_ended=False)) == 0
        found = await world.services.runs.find(RunFilter(parent_agent=AgentName("lead"), has_ended=True))
        assert [view.run.state for view in found] == [RunState.COMPLETED] * 3


async def _posts(world: World) -> list[tuple[str, str]]:
    """Return the pending posts to people: conversation and text."""

    async def operation(tx: Transaction) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for delivery in await tx.inboxes.waiting(parked_inbox(OPS), {DeliveryState.QUEUED}):
            post, message = await tx.posts.get(delivery.id), await tx.messages.get(delivery.message_id)
            if post is not None and message is not None:
                found.append((post.conversation, message.text))
        return found

    return await world.observer.store.read(operation)
