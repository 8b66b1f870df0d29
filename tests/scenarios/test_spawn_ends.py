"""The outcome of children: their mail, their results and their ends, as reported to their parents."""

import asyncio
from typing import Any

import pytest

from covey import Card, Failure, Result
from covey.core.errors import (
    NotYours,
)
from covey.core.identity import Identity
from covey.core.ledger.message import Kind
from covey.core.names import AgentName
from covey.core.work.run import Run, RunState, Stage, status_of
from covey.runtime.children import launchers
from covey.services.children.saga import SagaStep
from covey.surfaces.python.member import Errand
from covey.surfaces.python.spawned import Spawned
from tests.scenarios.children import (
    FailingStages,
    Patient,
    all_runs,
    ended,
    household,
    lead_of,
    obliging,
    owed,
    spawn_from,
    until,
)
from tests.scenarios.world import World, soon, waiting

OPS = AgentName("ops")
OWNER = Identity(AgentName("owner"))


# -------------------------------------------------------------------------------------------- the mail of a child


@pytest.mark.requirement("sessions.mode.run")
async def test_a_finished_run_has_no_session_and_its_result_is_kept(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        child = await lead.spawn("Go", agent="coder", run=obliging)
        result = await soon(child.result())
        assert result is not None
        assert [view.name for view in await world.observer.agents() if view.sessions] == ["lead"]
        again = await soon(child.result())
        assert again is not None
        assert again.text == result.text == "Done: Go"
        history = await world.services.runs.history(child.run_id)
        assert [message.kind for message in history] == [Kind.REQUEST, Kind.RESPONSE]


async def test_a_child_takes_none_of_the_mail_of_its_agent(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        await world.services.directory.register(AgentName("coder"), Card(), OWNER)
        await lead.send("coder", "for your next session")
        patient = Patient()
        child = await lead.spawn("Wait", agent="coder", run=patient)
        coder = await world.process().join("coder")
        assert await waiting(coder) == ["for your next session"]
        await lead.send("coder", "for the agent")
        await lead.send(str(child.key), "for the child")
        assert await waiting(coder) == ["for your next session", "for the agent"]
        patient.let_go()
        await soon(child.result())


async def test_an_answer_that_the_child_gives_itself_is_the_result(world: World) -> None:
    async def independent(errand: Errand) -> str:
        await errand.me.reply(errand.message.id, "I say so myself")
        return "nobody reads this"

    async with household(world):
        lead = await lead_of(world)
        child = await lead.spawn("Answer", agent="coder", run=independent)
        result = await soon(child.result())
        assert result is not None
        assert (result.status, result.text) == (RunState.COMPLETED, "I say so myself")
        await ended(world, child.run_id)
        assert [m.text for m in await world.services.runs.history(child.run_id)][1:] == ["I say so myself"]


async def test_a_child_can_ask_its_parent_and_get_an_answer(world: World) -> None:
    async def asking(errand: Errand) -> str:
        outcome = await errand.me.ask("lead", "Which style?")
        return f"formatted with {outcome.text}"

    async with household(world):
        lead = await lead_of(world)
        child = await lead.spawn("Format", agent="coder", run=asking)

        async def is_asked() -> bool:
            return await owed(world, "lead") > 0

        await until(world, is_asked)
        (question,) = await lead.owed()
        await lead.reply(question.message_id, "Prettier")
        result = await soon(child.result())
        assert result is not None
        assert result.text == "formatted with Prettier"


@pytest.mark.parametrize(
    ("answer", "status", "text", "data"),
    [
        (None, "completed", "Done.", None),
        ({"n": 1}, "completed", "", {"n": 1}),
        (Result("ok", data=[1]), "completed", "ok", [1]),
        (Failure("no such file"), "failed", "no such file", None),
        (ValueError("odd"), "failed", "ValueError: odd", None),
        (TimeoutError("mine"), "failed", "TimeoutError: mine", None),
        (object(), "failed", None, None),
        ("x" * 2_000_000, "completed", None, None),
    ],
)
async def test_every_return_value_of_a_child_is_reported_to_its_parent(
    world: World, answer: Any, status: str, text: str | None, data: object
) -> None:
    async def returning(_errand: Errand) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with household(world):
        lead = await lead_of(world)
        result = await soon((await lead.spawn("Go", run=returning)).result())
        assert result is not None
        assert (result.status, result.data) == (status, data)
        assert text is None or result.text == text


# ----------------------------------------------------------------------------------------------------------- push


@pytest.mark.requirement("sessions.push")
async def test_a_result_is_pushed_to_the_inbox_of_a_parent_that_does_not_wait(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        child = await lead.spawn("Go", agent="coder", run=obliging)
        await ended(world, child.run_id)
        (delivery,) = await lead.inbox.peek()
        assert (delivery.text, status_of(delivery.message)) == ("Done: Go", "completed")
        assert delivery.message.in_reply_to == child.record.request


@pytest.mark.requirement("sessions.push")
async def test_a_result_for_an_absent_parent_is_delivered_once_when_it_is_back(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        elsewhere = world.process()  # as a CLI command does on behalf of the parent's session
        patient = Patient()
        run = await spawn_from(elsewhere, lead, "Go", patient)
        world.kill(lead)
        patient.let_go()
        await ended(world, run.id)
        back = await world.process().join("lead")
        assert await waiting(back) == ["Done: Go"]
        result = await soon(world.services.spawning.result(run.id, back.identity, 10))
        assert result is not None
        assert result.text == "Done: Go"
        assert await waiting(back) == []


async def test_a_childs_result_never_goes_to_a_sibling_of_the_same_agent(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        elsewhere = world.process()
        first, second = Patient(), Patient()
        runs = [await spawn_from(elsewhere, lead, "Go", patient) for patient in (first, second)]
        world.kill(lead)
        first.let_go()
        await ended(world, runs[0].id)
        back = await world.process().join("lead")
        assert await waiting(back) == ["Done: Go"]
        second.let_go()


# -------------------------------------------------------------------------------------------- the ends of a child


@pytest.mark.requirement("sessions.timeout")
async def test_a_child_over_its_time_limit_is_ended_and_its_parent_gets_the_partial_output(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        patient = Patient()
        result = await soon((await lead.spawn("Wait", run=patient, time_limit=0.05)).result())
        assert result is not None
        assert result.status is RunState.TIMED_OUT
        assert "longer than its time limit of 0.05 s" in result.text
        assert result.text.endswith("so far, so good")
        assert patient.was_cancelled


async def test_a_child_can_be_stopped_from_any_process_but_not_by_a_stranger(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        stranger = await world.process().join("stranger")
        patient = Patient()
        child = await lead.spawn("Wait", agent="coder", run=patient)
        await soon(patient.begun.wait())
        with pytest.raises(NotYours):
            await world.services.spawning.stop(child.run_id, stranger.identity)
        with pytest.raises(NotYours):
            await world.services.spawning.result(child.run_id, stranger.identity, 0)
        stopped = await soon(world.services.spawning.stop(child.run_id, lead.identity, "enough"))
        assert (stopped.state, stopped.reason) == (RunState.STOPPED, "enough")
        result = await soon(child.result())
        assert result is not None
        assert result.status is RunState.STOPPED
        assert result.text.endswith("so far, so good")
        again = await child.stop("twice")
        assert again.record.reason == "enough"


async def test_children_end_with_the_space_of_their_parent(world: World) -> None:
    lead = await lead_of(world)
    patient = Patient()
    child = await lead.spawn("Wait", run=patient)
    await soon(patient.begun.wait())
    await world.end_children()
    assert patient.was_cancelled
    assert (await child.refresh()).state is RunState.STOPPED


async def test_a_child_that_is_closed_before_its_first_step_ends_too(world: World) -> None:
    lead = await lead_of(world)
    child = await lead.spawn("Wait", run=Patient())
    await world.end_children()
    assert (await child.refresh()).state is RunState.STOPPED


async def test_a_child_that_ignores_cancellation_is_abandoned(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(launchers, "GRACE_S", 0.02)
    begun, enough, over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def stubborn(_errand: Errand) -> str:
        begun.set()
        while not enough.is_set():
            try:
                await enough.wait()
            except asyncio.CancelledError:
                continue
        over.set()
        return "too late"

    lead = await lead_of(world)
    child = await lead.spawn("Wait", run=stubborn)
    await soon(begun.wait())
    await soon(child.stop("enough"))
    assert (child.state, child.record.reason) == (RunState.STOPPED, "enough")
    await soon(world.end_children())
    assert "ignored its cancellation" in caplog.text
    enough.set()
    await soon(over.wait())
    await asyncio.sleep(0)
    assert (await child.refresh()).state is RunState.STOPPED


async def test_a_group_waits_for_its_children_and_ends_them_when_it_is_cancelled(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        async with asyncio.TaskGroup() as group:
            child = await lead.spawn("Go", run=obliging, group=group)
        assert (await child.refresh()).state is RunState.COMPLETED
        started: list[Spawned] = []

        async def failing() -> None:
            async with asyncio.TaskGroup() as group:
                started.append(await lead.spawn("Wait", run=Patient(), group=group))
                raise ValueError("the caller fails")

        with pytest.raises(ExceptionGroup):
            await failing()
        assert (await started[0].refresh()).state is RunState.STOPPED


async def test_a_child_whose_process_is_killed_is_lost_and_its_parent_is_notified_once(world: World) -> None:
    async with household(world):
        elsewhere = world.process()
        lead = await lead_of(world)
        other = await elsewhere.join("other")
        coder = AgentName("coder")
        runs = [await spawn_from(elsewhere, lead, "Wait", Patient(), agent=coder) for _ in range(5)]
        world.kill(other)
        assert [(await world.services.runs.view(run.id)).run.state for run in runs] == [RunState.LOST] * 5
        # Dead children do not count towards the limit, so the next one can be started at once.
        replaced = await lead.spawn("Go", agent="coder", run=obliging)
        await soon(replaced.result())
        await world.tend()
        await world.tend()
        told = [delivery.message for delivery in await lead.inbox.peek()]
        assert sorted(str(message.in_reply_to) for message in told) == sorted(run.request for run in runs)
        assert all(status_of(message) == "lost" for message in told)
        assert await owed(world, "coder") == 0


async def test_a_parent_is_notified_of_a_start_that_a_kill_interrupted(world: World) -> None:
    async with household(world):
        process = world.process()
        lead = await lead_of(world)
        helper = await process.join("helper")

        class Dying(FailingStages):
            at = Stage.ATTACHMENTS

            def _failing(self, step: SagaStep) -> SagaStep:
                async def in_world(_run: Run) -> None:
                    world.kill(helper)
                    await asyncio.Event().wait()

                return step._replace(in_world=in_world)

        process.services.spawning.stages = Dying
        spawning = asyncio.ensure_future(spawn_from(process, lead, "Go", obliging, agent=AgentName("coder")))

        async def is_lost() -> bool:
            return any(run.state is RunState.LOST for run in await all_runs(world))

        await until(world, is_lost)
        await world.tend()
        (notice,) = await lead.inbox.peek()
        assert notice.text.startswith("The start of a child of coder was aborted")
        assert (notice.message.sender.agent, status_of(notice.message)) == ("covey", "lost")
        spawning.cancel()
        await asyncio.wait({spawning})
        await world.tend()
        assert len(await lead.inbox.peek()) == 1
