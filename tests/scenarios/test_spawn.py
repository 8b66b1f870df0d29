"""Spawning: children are started within limits, in ten stages, and each stage is undone if a later one fails."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from covey import Card
from covey.core.channels.channel import console
from covey.core.errors import (
    BeyondToken,
    CoveyError,
    Invalid,
    LauncherUnavailable,
    RecipientUnknown,
    RunUnknown,
    SpawnDepth,
    SpawnLimit,
    SpawnNotAllowed,
)
from covey.core.identity import Identity, parse_session_key
from covey.core.ledger.event import Action
from covey.core.names import AgentName
from covey.core.work.run import STAGES, Run, RunId, RunState, Stage
from covey.ports.store import Transaction
from covey.ports.work import RunFilter
from covey.services.children.request import SpawnRequest
from covey.services.children.stages import SpawnStages
from covey.surfaces.python.member import Errand
from tests.scenarios.children import (
    FailingStages,
    Patient,
    alive,
    all_runs,
    bindings,
    household,
    lead_of,
    obliging,
    owed,
    spawn_from,
    stages_of,
)
from tests.scenarios.world import LIMIT_S, World, soon

OPS = AgentName("ops")
OWNER = Identity(AgentName("owner"))


# ------------------------------------------------------------------------------------------ a spawn and its stages


async def test_a_spawn_returns_at_once_with_a_key_and_an_id_and_its_answer_comes_later(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        patient = Patient()
        child = await soon(
            lead.spawn("Count the files", agent="coder", label="counter", description="counts", run=patient)
        )
        assert child.key == parse_session_key(f"agent:coder:subagent:{child.record.session}")
        assert (child.state, child.record.label, child.record.description) == (RunState.RUNNING, "counter", "counts")
        assert await child.result(timeout=0) is None
        patient.let_go()
        result = await soon(child.result())
        assert result is not None
        assert (result.status, result.text) == (RunState.COMPLETED, "Done: Count the files")
        assert child.state is RunState.COMPLETED


@pytest.mark.requirement("sessions.spawn.stages")
async def test_the_journal_contains_the_ten_stages_in_order(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        child = await lead.spawn("Go", run=obliging)
        assert tuple(await stages_of(world, child.record)) == STAGES
        assert child.record.stage is Stage.RETURN
        await soon(child.result())


@pytest.mark.requirement("sessions.spawn.stages")
@pytest.mark.parametrize("stage", STAGES)
async def test_a_failing_stage_undoes_the_earlier_ones(world: World, stage: Stage) -> None:
    async with household(world):
        await world.services.channels.add(console(OPS), OWNER)
        process = world.process()
        lead = await process.join("lead")
        process.services.spawning.stages = type("Failing", (FailingStages,), {"at": stage})
        patient = Patient()
        with pytest.raises(LauncherUnavailable, match="told to fail"):
            await soon(lead.spawn("Go", agent="coder", mode="session", thread=True, run=patient, label="x"))
        assert await alive(world) == []
        assert not [s for s in await _sessions(world) if s != lead.session.id]
        assert await bindings(world) == []
        assert await owed(world, "coder") == 0
        assert patient.was_cancelled == patient.begun.is_set()
        runs = await all_runs(world)
        is_begun = STAGES.index(stage) > STAGES.index(Stage.PROMPT)
        assert len(runs) <= 1
        if is_begun:
            (run,) = runs
            assert (run.state, run.folder) == (RunState.FAILED, None)
            assert run.reason is not None
            assert run.reason.startswith("its spawn failed: ")
            undone = [*await stages_of(world, run, Action.SPAWN_UNDONE)]
            assert undone == sorted(undone, key=STAGES.index, reverse=True)
            assert Stage.SESSION in undone
            done = await stages_of(world, run)
            assert set(done) <= set(undone)
        # The failed spawn does not count towards the limit.
        process.services.spawning.stages = SpawnStages
        children = [await lead.spawn("Go", agent="coder", run=obliging) for _ in range(5)]
        assert [r.status for child in children if (r := await soon(child.result()))] == [RunState.COMPLETED] * 5


async def _sessions(world: World) -> list[str]:
    async def operation(tx: Transaction) -> list[str]:
        return [session.id for session in await tx.sessions.current()]

    return await world.observer.store.read(operation)


async def test_a_spawn_that_is_cancelled_at_any_moment_leaves_nothing(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        for steps in range(10):
            spawning = asyncio.ensure_future(lead.spawn("Go", agent="coder", run=Patient()))
            for _ in range(steps):
                await asyncio.sleep(0)
            if spawning.cancel():
                await asyncio.wait({spawning})
            else:
                await soon(spawning.result().stop())
            assert await alive(world) == []
        assert [view.name for view in await world.observer.agents() if view.sessions] == ["lead"]
        assert await owed(world, "coder") == 0


# --------------------------------------------------------------------------------------------------------- limits


@pytest.mark.requirement("sessions.spawn.limits")
async def test_the_sixth_child_of_a_session_is_refused_until_one_has_ended(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        patients = [Patient() for _ in range(5)]
        children = [await lead.spawn("Wait", run=patient) for patient in patients]
        with pytest.raises(SpawnLimit) as refused:
            await lead.spawn("One more", run=obliging)
        assert refused.value.details == {"agent": "lead", "children": 5, "limit": 5}
        assert "max_children on the card of lead" in refused.value.message
        patients[0].let_go()
        await soon(children[0].result())
        assert await soon((await lead.spawn("One more", run=obliging)).result()) is not None


@pytest.mark.requirement("sessions.spawn.limits")
async def test_ten_sessions_of_an_agent_that_spawn_at_once_have_five_children_together(world: World) -> None:
    async with household(world):
        leads = [await lead_of(world) for _ in range(10)]
        patient = Patient()
        wishes = [lead.spawn("Wait", run=patient) for lead in leads for _ in range(5)]
        async with asyncio.timeout(LIMIT_S):
            tries = await asyncio.gather(*wishes, return_exceptions=True)
        refused = [error for error in tries if isinstance(error, BaseException)]
        assert {type(error) for error in refused} == {SpawnLimit}
        assert (len(tries) - len(refused), len(await alive(world))) == (5, 5)
        assert "lead has 5 children over all its sessions, and the limit is 5" in str(refused[0])
        patient.let_go()


@pytest.mark.requirement("sessions.spawn.limits")
async def test_a_child_can_only_start_children_if_the_card_allows_it(world: World) -> None:
    async def nested(errand: Errand) -> str:
        try:
            inner = await errand.me.spawn("Deeper", run=obliging)
        except SpawnDepth as error:
            return error.message
        return f"depth {inner.key.depth}"

    async with household(world):
        lead = await lead_of(world)
        refused = await soon((await lead.spawn("Nest", run=nested)).result())
        assert refused is not None
        assert refused.text == "the child would be at depth 2, and the limit is 1 (max_depth on the card of lead)"
        await world.services.directory.register(AgentName("lead"), Card(max_depth=2), OWNER)
        allowed = await soon((await lead.spawn("Nest", run=nested)).result())
        assert allowed is not None
        assert allowed.text == "depth 2"


@pytest.mark.requirement("sessions.spawn.limits")
@pytest.mark.parametrize(
    ("parent", "child", "rule"),
    [
        ({"allow_spawn": ("tester",)}, {}, "allow_spawn on the card of lead allows tester"),
        ({"allow_spawn": ()}, {}, "allow_spawn on the card of lead allows no agent"),
        ({"allowed_delegates": ("tester",)}, {}, "allowed_delegates on the card of lead allows tester"),
        ({}, {"allow_from": ("boss",)}, "allow_from on the card of coder allows boss"),
    ],
)
async def test_allow_lists_limit_the_agents_whose_children_can_be_started(
    world: World, parent: Mapping[str, Any], child: Mapping[str, Any], rule: str
) -> None:
    async with household(world):
        lead = await lead_of(world, **parent)
        await world.services.directory.register(AgentName("coder"), Card(**child), OWNER)
        with pytest.raises(SpawnNotAllowed) as refused:
            await lead.spawn("Go", agent="coder", run=obliging)
        assert rule in refused.value.message
        assert await all_runs(world) == []
        own = await soon((await lead.spawn("Go", run=obliging)).result())
        assert own is not None  # a child of the parent's own agent is always allowed


@pytest.mark.requirement("sessions.spawn.limits")
async def test_limits_hold_under_200_concurrent_spawns(world: World) -> None:
    async with household(world):
        first = world.process()
        lead = await first.join("lead")
        others = [first, world.process(), world.process()]
        patient = Patient()

        async def one(number: int) -> Run | CoveyError:
            try:
                return await spawn_from(others[number % len(others)], lead, "Wait", patient)
            except CoveyError as error:
                return error

        async with asyncio.timeout(LIMIT_S):
            ends = await asyncio.gather(*[one(number) for number in range(200)])
        started = [end for end in ends if isinstance(end, Run)]
        refused = [end for end in ends if isinstance(end, SpawnLimit)]
        assert (len(started), len(refused)) == (5, 195)
        assert len(await alive(world)) == 5
        patient.let_go()


# ----------------------------------------------------------------------------------------------- invalid requests


@pytest.mark.requirement("sessions.mode.session")
async def test_a_child_in_session_mode_needs_a_thread_and_a_run_has_none(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        with pytest.raises(Invalid, match="mode session needs thread=true"):
            await lead.spawn("Stay", mode="session", run=obliging)
        with pytest.raises(Invalid, match="not seen by people"):
            await lead.spawn("Go", thread=True, run=obliging)
        with pytest.raises(Invalid, match="no channel"):
            await lead.spawn("Stay", mode="session", thread=True, run=obliging)
        assert await all_runs(world) == []


async def test_an_impossible_spawn_is_refused_with_a_reason_and_leaves_nothing(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        await world.services.channels.add(console(OPS), OWNER)
        with pytest.raises(Invalid, match="the card of lead has no command"):
            await lead.spawn("Go")
        with pytest.raises(RecipientUnknown):
            await lead.spawn("Go", agent="nobody")
        with pytest.raises(Invalid, match="it is a channel"):
            await lead.spawn("Go", agent="ops")
        with pytest.raises(Invalid, match="say what the child is to do"):
            await lead.spawn("  ", run=obliging)
        with pytest.raises(Invalid, match="runTimeoutSeconds"):
            await lead.spawn("Go", run=obliging, time_limit=0)
        with pytest.raises(Invalid, match="group"):
            await lead.spawn("Go", group=asyncio.TaskGroup())
        with pytest.raises(LauncherUnavailable):
            await lead.spawn("Go", run=obliging, group=asyncio.TaskGroup())  # the group was not entered
        with pytest.raises(RunUnknown):
            await world.services.runs.view(RunId("00000000-0000-4000-8000-000000000000"))
        assert await alive(world) == []


# ---------------------------------------------------------------------------------------- prompts and attachments


@pytest.mark.requirement("sessions.prompt")
async def test_the_first_prompt_contains_the_task_its_sender_and_how_to_report(world: World) -> None:
    told: list[str] = []

    async def curious(errand: Errand) -> None:
        told.append(errand.prompt)

    async with household(world):
        lead = await lead_of(world)
        child = await lead.spawn("Review PR #123", agent="coder", run=curious, label="security", time_limit=300)
        await soon(child.result())
    (prompt,) = told
    assert "You are a child of lead, started as the agent coder (security). Your task:\n\n<task" in prompt
    assert f'<task from="{lead.session.key}">\nReview PR #123\n</task>' in prompt
    assert "What you return is your result. It is sent to lead at once." in prompt
    assert f"Your session is {child.key}, your run {child.run_id}. {lead.session.key} started you." in prompt
    assert "You have 300 seconds" in prompt


@pytest.mark.requirement("sessions.attachments")
async def test_attachments_are_snapshots(world: World) -> None:
    async def reader(errand: Errand) -> str:
        (part,) = errand.files
        return (await errand.file(part)).decode()

    async with household(world):
        lead = await lead_of(world)
        part = await world.services.attachments.keep("notes.txt", b"as it was")
        result = await soon((await lead.spawn("Read", attachments=[part], run=reader)).result())
        assert result is not None
        assert result.text == "as it was"
        with pytest.raises(CoveyError):
            await lead.spawn("Read", attachments=[part._replace(digest="0" * 64)], run=reader)
        assert await alive(world) == []


# ------------------------------------------------------------------------------------------------------------ tokens


async def test_an_agents_token_can_start_its_own_children_but_not_act_for_other_agents(
    world: World,
) -> None:
    async with household(world):
        process = world.process()
        token = await world.services.identities.create_token(AgentName("lead"), OWNER, register=True)
        lead = await process.join("lead", token=token)
        other = await world.process().join("other")
        result = await soon((await lead.spawn("Go", run=obliging)).result())
        assert result is not None
        assert result.text == "Done: Go"
        narrowed = process.services.narrowed_to(lead.identity)
        with pytest.raises(BeyondToken):
            await narrowed.spawning.spawn(SpawnRequest("Go"), other.identity)
        with pytest.raises(BeyondToken, match="choose the program of other"):
            await lead.spawn("Go", agent="other", run=obliging)  # the child would act in the name of other
        hidden = await other.spawn("Go", run=Patient())
        with pytest.raises(RunUnknown):
            await narrowed.runs.view(hidden.run_id)
        assert [view.run.parent_agent for view in await narrowed.runs.find(RunFilter())] == ["lead"]
