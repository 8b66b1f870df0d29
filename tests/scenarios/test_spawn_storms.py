"""Children and storms: a spawn spends the budget of its causal tree, and a wait for a child is part of the wait-for
graph."""

import asyncio

import pytest

from covey.core.errors import TreeExhausted, WaitCircle
from covey.core.ledger.event import Action
from covey.core.ledger.message import Message
from covey.core.ledger.outcome import Outcome
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.waits import Edge
from covey.core.names import JOURNAL_TOPIC, SPACE, AgentName
from covey.core.storms.budget import Limit
from covey.core.work.run import RunState
from covey.services.children.spawning import RunResult
from covey.surfaces.python.member import Errand, Member
from covey.surfaces.python.spawned import Spawned
from tests.scenarios.children import Patient, all_runs, household, lead_of, obliging
from tests.scenarios.tools import use
from tests.scenarios.world import LIMIT_S, World, soon

LONG = 600.0


async def limit(world: World, **changes: int) -> None:
    await world.services.storms.set_limits({Limit(name): n for name, n in changes.items()}, await world.operator())


async def asked(world: World, lead: Member) -> str:
    """Let an agent write to the lead. Return the message, which is the root of the causal tree."""
    (alice,) = await world.join("alice")
    return (await alice.send(lead.name, "Shall we look at the parser?")).message_id


async def question_to(world: World, member: Member, besides: Spawned | None = None) -> Ticket:
    """Wait until a member is asked a question other than the request to its own child."""
    known = None if besides is None else besides.record.request

    async def look() -> Ticket | None:
        owed = await world.services.dialogue.owed_by(member.name)
        return next((ticket for ticket in owed if ticket.message_id != known), None)

    found = await soon(world.services.waiting.until([JOURNAL_TOPIC], look, LIMIT_S))
    assert found is not None
    return found


async def told(world: World, name: str) -> list[Message]:
    items = await world.services.inbox.peek(AgentName(name))
    return [item.message for item in items if item.message.sender.agent == SPACE]


# ------------------------------------------------------------------------------------------- the budget of a tree


@pytest.mark.requirement("storm.budget")
@pytest.mark.parametrize(("name", "allowed", "count"), [("children", 1, 2), ("messages", 3, 4)])
async def test_a_spawn_beyond_the_budget_of_its_tree_is_a_stopped_storm(
    world: World, name: str, allowed: int, count: int
) -> None:
    async with household(world):
        lead = await lead_of(world)
        root = await asked(world, lead)
        await limit(world, **{name: allowed})
        first = await lead.spawn("Look", agent="coder", run=obliging, relaying=root)
        await soon(first.result())
        with pytest.raises(TreeExhausted):
            await lead.spawn("Look again", agent="coder", run=obliging, relaying=root)
        with pytest.raises(TreeExhausted) as caught:
            await lead.spawn("Look once more", agent="coder", run=obliging, relaying=root)
        assert caught.value.details == {
            "tree": root,
            "limit": name,
            "count": count,
            "allowed": allowed,
            "raise_with": f"covey storms limits --{name} N",
            "lift_with": f"covey storms lift {root}",
        }
        (event,) = await world.events(Action.STORM_STOPPED)
        assert (event.message_id, event.agent, event.details["code"]) == (root, "lead", "storm-budget")
        assert event.details["refusal"] == caught.value.details
        (view,) = await world.services.storms.look()
        assert (view.tree.root, view.tree.stopped, view.tree.refused) == (root, Limit(name), 2)
        assert [run.id for run in await all_runs(world)] == [first.run_id]
        for agent in ("lead", "operator"):
            (notice,) = await told(world, agent)
            assert root in notice.text
        assert await told(world, "coder") == []
        await limit(world, **{name: 50})
        again = await lead.spawn("Look again", agent="coder", run=obliging, relaying=root)
        assert (await soon(again.result())) is not None
        assert await world.services.storms.look() == []


async def test_a_refused_spawn_does_not_register_an_unknown_agent(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        root = await asked(world, lead)
        await limit(world, messages=1)
        with pytest.raises(TreeExhausted):
            await lead.spawn("Look", agent="stranger", run=obliging, relaying=root)
        assert "stranger" not in await world.services.directory.names()


async def test_a_refused_spawn_undoes_its_committed_stages_and_the_storm_is_recorded(world: World) -> None:
    async with household(world):
        lead = await lead_of(world)
        root = await asked(world, lead)
        await limit(world, messages=1)
        file = await world.services.attachments.keep("notes.txt", b"as it was")
        with pytest.raises(TreeExhausted):
            await lead.spawn("Look", agent="coder", run=obliging, relaying=root, attachments=[file])
        (run,) = await all_runs(world)
        assert run.state is RunState.FAILED
        assert "covey storms limits --messages" in (run.reason or "")
        assert len(await world.events(Action.STORM_STOPPED)) == 1
        assert await world.services.audit.check() == []


async def test_a_model_whose_spawn_is_refused_reads_which_limit_and_how_to_raise_it(world: World) -> None:
    async with household(world):
        lead = await lead_of(world, command=("true",))
        root = await asked(world, lead)
        await limit(world, messages=1)
        async with lead.turn() as turn:
            turn.text()
            turn.responded("r-1")
        answer = await use(lead, "sessions", "sessions_spawn", task="Look at it")
        assert answer.is_error
        for words in (
            root,
            "2 messages, and the limit is 1",
            "covey storms limits --messages N",
            f"covey storms lift {root}",
        ):
            assert words in answer.text
        assert len(await world.events(Action.STORM_STOPPED)) == 1


# --------------------------------------------------------------------------------------------- waits for a child


class Waiting:
    """A parent that waits for its child in the background."""

    def __init__(self, world: World, lead: Member, child: Spawned, *, answers_meanwhile: bool = False) -> None:
        self._world = world
        self._lead = lead
        self._waiting = asyncio.create_task(child.result(timeout=LONG, answers_meanwhile=answers_meanwhile))

    async def begun(self) -> Edge:
        """Return the wait, as soon as it is in the graph."""

        async def look() -> Edge | None:
            edges = await self._world.services.waits.graph()
            return next((edge for edge in edges if edge.is_wait and edge.waiter == self._lead.name), None)

        found = await soon(self._world.services.waiting.until([JOURNAL_TOPIC], look, LIMIT_S))
        assert found is not None
        return found

    async def result(self) -> RunResult | None:
        return await soon(self._outcome())

    async def _outcome(self) -> RunResult | None:
        return await self._waiting

    async def cancel(self) -> None:
        self._waiting.cancel()
        await asyncio.gather(self._waiting, return_exceptions=True)

    async def __aenter__(self) -> "Waiting":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cancel()


class Asking:
    """A child that asks its parent when it is released, and returns the outcome."""

    def __init__(self, *, in_thread: bool = False) -> None:
        self._go = asyncio.Event()
        self._in_thread = in_thread

    async def __call__(self, errand: Errand) -> str:
        await self._go.wait()
        try:
            outcome = await self._ask(errand)
        except WaitCircle as error:
            return f"refused: {error.message}"
        return f"formatted with {outcome.text}"

    async def _ask(self, errand: Errand) -> Outcome:
        if self._in_thread:
            return await errand.me.ask("lead", "Which style?", timeout=LONG, in_reply_to=errand.message.id)
        return await errand.me.ask("lead", "Which style?", timeout=LONG)

    def let_go(self) -> None:
        self._go.set()


@pytest.mark.requirement("storm.cycle")
async def test_a_child_that_asks_its_waiting_parent_is_refused_with_the_path(world: World) -> None:
    async with household(world):
        lead, asking = await lead_of(world), Asking()
        child = await lead.spawn("Format", agent="coder", run=asking)
        async with Waiting(world, lead, child) as waiting:
            edge = await waiting.begun()
            assert (edge.waiter, edge.awaited, edge.what) == ("lead", "coder", child.record.ticket)
            asking.let_go()
            result = await waiting.result()
        assert result is not None
        assert "coder → lead → coder" in result.text
        assert f"lead waits for coder (ticket {child.record.ticket})" in result.text
        assert [edge for edge in await world.services.waits.graph() if edge.is_wait] == []


@pytest.mark.requirement("storm.cycle")
async def test_a_sibling_of_the_same_agent_can_not_give_a_childs_result(world: World) -> None:
    async with household(world):
        lead, asking, patient = await lead_of(world), Asking(), Patient()
        child = await lead.spawn("Format", agent="coder", run=asking)
        sibling = await lead.spawn("Count", agent="coder", run=patient)
        async with Waiting(world, lead, child) as waiting:
            await waiting.begun()
            asking.let_go()
            result = await waiting.result()
        assert result is not None
        assert "coder → lead → coder" in result.text
        patient.let_go()
        await soon(sibling.result())


@pytest.mark.requirement("storm.cycle")
async def test_a_circle_goes_on_through_a_child_that_waits_whatever_its_siblings_do(world: World) -> None:
    async def asking(errand: Errand) -> str:
        return (await errand.me.ask("carol", "Which style?", timeout=LONG)).text

    async with household(world):
        lead, patient = await lead_of(world), Patient()
        (carol,) = await world.join("carol")
        child = await lead.spawn("Format", agent="coder", run=asking)
        sibling = await lead.spawn("Count", agent="coder", run=patient)
        question = await question_to(world, carol)
        async with Waiting(world, lead, child) as waiting:
            await waiting.begun()
            with pytest.raises(WaitCircle) as caught:
                await soon(carol.ask("lead", "May I?", timeout=LONG))
            assert caught.value.details["path"] == ["carol", "lead", "coder", "carol"]
            await carol.reply(question.message_id, "Prettier")
            result = await waiting.result()
        assert result is not None
        assert result.text == "Prettier"
        patient.let_go()
        await soon(sibling.result())


@pytest.mark.requirement("storm.cycle")
@pytest.mark.parametrize("in_thread", [True, False])
async def test_a_child_of_the_same_agent_that_asks_back_outside_its_thread_is_refused_too(
    world: World, in_thread: bool
) -> None:
    async with household(world):
        lead, asking = await lead_of(world), Asking(in_thread=in_thread)
        child = await lead.spawn("Format", run=asking)
        async with Waiting(world, lead, child) as waiting:
            await waiting.begun()
            asking.let_go()
            if in_thread:
                question = await question_to(world, lead, besides=child)
                await lead.reply(question.message_id, "Prettier")
            result = await waiting.result()
        assert result is not None
        assert (result.text == "formatted with Prettier") is in_thread
        assert ("lead → lead" in result.text) is not in_thread


async def test_another_session_of_the_parents_agent_can_answer_the_child(world: World) -> None:
    async with household(world):
        lead, asking = await lead_of(world), Asking()
        (other,) = await world.join("lead")
        child = await lead.spawn("Format", run=asking)
        async with Waiting(world, lead, child) as waiting:
            await waiting.begun()
            asking.let_go()
            question = await question_to(world, other, besides=child)
            await other.reply(question.message_id, "Prettier")
            result = await waiting.result()
        assert result is not None
        assert result.text == "formatted with Prettier"


async def test_a_parent_that_would_wait_for_a_child_that_waits_for_it_is_refused(world: World) -> None:
    async with household(world):
        lead, asking = await lead_of(world), Asking()
        child = await lead.spawn("Format", agent="coder", run=asking)
        asking.let_go()
        question = await question_to(world, lead)
        with pytest.raises(WaitCircle) as caught:
            await soon(child.result(timeout=LONG))
        assert caught.value.details["path"] == ["lead", "coder", "lead"]
        assert await child.result(timeout=0) is None  # reading without a timeout is not waiting
        await lead.reply(question.message_id, "Prettier")
        result = await soon(child.result(timeout=LONG))
        assert result is not None
        assert result.text == "formatted with Prettier"


@pytest.mark.parametrize("in_thread", [True, False])
async def test_a_child_may_ask_in_its_thread_or_if_its_parent_answers_meanwhile(world: World, in_thread: bool) -> None:
    async with household(world):
        lead, asking = await lead_of(world), Asking(in_thread=in_thread)
        child = await lead.spawn("Format", agent="coder", run=asking)
        async with Waiting(world, lead, child, answers_meanwhile=not in_thread) as waiting:
            if in_thread:
                await waiting.begun()
            asking.let_go()
            question = await question_to(world, lead)
            await lead.reply(question.message_id, "Prettier")
            result = await waiting.result()
        assert result is not None
        assert result.text == "formatted with Prettier"


async def test_a_parent_whose_wait_was_cancelled_is_in_no_circle(world: World) -> None:
    async with household(world):
        lead, asking = await lead_of(world), Asking()
        child = await lead.spawn("Format", agent="coder", run=asking)
        async with Waiting(world, lead, child) as waiting:
            await waiting.begun()
            await waiting.cancel()
        asking.let_go()
        question = await question_to(world, lead)
        await lead.reply(question.message_id, "Prettier")
        assert (await soon(child.result(timeout=LONG))) is not None


async def test_checking_a_child_without_a_timeout_is_no_wait(world: World) -> None:
    async with household(world):
        lead, patient = await lead_of(world), Patient()
        child = await lead.spawn("Count", agent="coder", run=patient)
        assert await child.result(timeout=0) is None
        assert [edge.is_wait for edge in await world.services.waits.graph()] == [False]
        patient.let_go()
        await soon(child.result())
