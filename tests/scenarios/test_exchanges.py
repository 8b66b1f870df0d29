"""Exchanges: agents that keep each other going are stopped, whatever kinds of messages they use. Real work is not."""

from collections.abc import Sequence

import pytest

from covey.core.errors import ExchangeStorm, OperatorOnly, ProgressStorm
from covey.core.identity import parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.outcome import OutcomeKind
from covey.core.limits import FLOW_SAMPLE
from covey.core.names import OPERATOR, SPACE, AgentName, MessageId, parse_message_id
from covey.core.storms.budget import HURRY, REST, Limit, Limits
from covey.core.storms.flow import StormStop
from covey.core.times import format_instant
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.python.member import Member
from tests.scenarios.loops import LOOPS, Refused, run
from tests.scenarios.world import World

ENOUGH = 500
"""Limit of messages within which a loop must be stopped."""

SMALL = 6 * FLOW_SAMPLE
"""An exchange limit that is reached quickly."""


@pytest.fixture(params=["memory", "sqlite"])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


async def limit(world: World, **changes: int) -> None:
    await world.services.storms.set_limits({Limit(name): n for name, n in changes.items()}, await world.operator())


async def told(world: World, name: str) -> Sequence[str]:
    """Return the notices of the space to an agent about a storm."""
    items = await world.services.inbox.peek(AgentName(name), limit=1000)
    return [i.message.text for i in items if i.message.sender.agent == SPACE and "stopped" in i.message.text]


async def volley(alice: Member, bob: Member, most: int = ENOUGH) -> int:
    """Let two agents write to each other until a message is refused. Return the number of accepted messages."""
    for n in range(most):
        sender, to = (alice, bob) if n % 2 == 0 else (bob, alice)
        try:
            await sender.send(to.name, f"step {n}")
        except ExchangeStorm:
            return n
    raise AssertionError(f"{most} messages passed")


async def only_stop(world: World) -> StormStop:
    (stop,) = await world.services.storms.exchanges()
    return stop


# ----------------------------------------------------------------------------------------------------- stops


@pytest.mark.requirement("trust.storm")
@pytest.mark.requirement("storm.echo")
@pytest.mark.parametrize("name", LOOPS)
async def test_every_loop_is_stopped_and_the_operator_is_notified_once(world: World, name: str) -> None:
    accepted, error = await run(world, LOOPS[name], ENOUGH)
    assert error is not None, f"{accepted} messages passed"
    assert isinstance(error, (ExchangeStorm, ProgressStorm, Refused))
    assert "covey storms lift" in str(error)
    assert len(await told(world, OPERATOR)) == 1
    (event,) = await world.events(Action.STORM_STOPPED)
    stop = await only_stop(world)
    assert (event.message_id, event.details["code"]) == (
        stop.id,
        ProgressStorm.code if stop.is_task else "exchange-storm",
    )
    thread = await world.services.dialogue.thread(stop.id)
    notices = [m.to[0].value for m in thread if m.sender.agent == SPACE and "Covey stopped" in m.text]
    assert {*stop.agents} <= {*notices}
    assert len(notices) == len({*notices})


async def test_a_refusal_names_the_agents_the_count_the_end_and_the_ways_to_continue(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await volley(alice, bob)
    stop = await only_stop(world)
    with pytest.raises(ExchangeStorm) as caught:
        await bob.send("alice", "and another thing")
    assert caught.value.details == {
        "stop": stop.id,
        "agents": ["alice", "bob"],
        "count": stop.messages,
        "until": format_instant(stop.until),
        "raise_with": "covey storms limits --exchange N",
        "lift_with": f"covey storms lift {stop.id}",
    }
    assert stop.until == world.clock.now() + REST
    assert Limits().exchange <= stop.messages < ENOUGH


async def test_a_stop_applies_to_its_agents_only(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    await limit(world, exchange=SMALL)
    await volley(alice, bob)
    for sender in (alice, bob):
        await sender.send("carol", "bob and I were stopped")
        await carol.send(sender.name, "so I hear")
        await sender.send("operator", "we were stopped")
        with pytest.raises(ExchangeStorm):
            await sender.send("*", "we were stopped")


async def test_due_messages_pass_a_stop_so_that_no_agent_waits_forever(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, exchange=SMALL)
    asked = await alice.ask("bob", "which branch?", timeout=0)
    task = await alice.delegate("bob", "mend it")
    work = await bob.take(timeout=0, start=True)
    assert work is not None
    await volley(alice, bob)
    question = await bob.ask("alice", "which one?", timeout=0, in_reply_to=task.id)
    await alice.reply(question.ticket.message_id, "the second")
    await work.progress("half of it")
    await work.complete("done")
    await bob.reply(asked.ticket.message_id, "main")
    outcome = await alice.resume(asked.ticket.id, timeout=0)
    assert (outcome.kind, outcome.text) == (OutcomeKind.REPLIED, "main")
    result = await task.result(timeout=0)
    assert result is not None
    assert result.text == "done"
    with pytest.raises(ExchangeStorm):
        await alice.ask("bob", "and the next one?", timeout=0)
    with pytest.raises(ExchangeStorm):
        await bob.delegate("alice", "do it yourself")


# ------------------------------------------------------------------------------------------- the end of a stop


async def test_only_the_operator_lifts_a_stop(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, exchange=SMALL)
    first = await volley(alice, bob)
    stop = await only_stop(world)
    with pytest.raises(OperatorOnly):
        await world.services.storms.lift(stop.id, alice.identity)
    assert await world.services.storms.lift(stop.id, await world.operator()) == stop
    assert not await world.services.storms.exchanges()
    assert [event.message_id for event in await world.events(Action.STORM_LIFTED)] == [stop.id]
    assert await volley(alice, bob) >= first - 2 * FLOW_SAMPLE  # the whole budget is available again
    assert len(await told(world, OPERATOR)) == 2  # one notice for each stop


async def test_a_stop_ends_by_itself(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, exchange=SMALL)
    await volley(alice, bob)
    world.pass_time(minutes=59)
    with pytest.raises(ExchangeStorm):
        await alice.send("bob", "still there?")
    world.pass_time(minutes=1)
    await alice.send("bob", "still there?")
    assert not await world.services.storms.exchanges()
    await volley(alice, bob)


async def test_a_message_of_a_person_to_one_of_the_agents_ends_the_stop(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, exchange=SMALL)
    await volley(alice, bob)
    draft = Draft(Kind.NOTIFY, (parse_address("bob"),), (TextPart("Go on."),))
    await world.services.mail.send(draft, await world.operator(), SendPolicy())
    assert not await world.services.storms.exchanges()
    await volley(alice, bob)


async def test_agents_that_regularly_hear_from_a_person_are_never_stopped(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, exchange=SMALL)
    operator = await world.operator()
    draft = Draft(Kind.NOTIFY, (parse_address("alice"),), (TextPart("Go on."),))
    for n in range(4 * SMALL):
        await (alice if n % 2 else bob).send("bob" if n % 2 else "alice", f"step {n}")
        if n % 50 == 0:
            await world.services.mail.send(draft, operator, SendPolicy())
    assert not await world.events(Action.STORM_STOPPED)


async def test_a_rest_resets_the_count(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, exchange=SMALL)
    for _ in range(5):
        for n in range(SMALL - FLOW_SAMPLE):
            await (alice if n % 2 else bob).send("bob" if n % 2 else "alice", f"step {n}")
        world.pass_time(minutes=60)
    assert not await world.events(Action.STORM_STOPPED)


async def test_the_limit_is_a_setting_of_the_space(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, exchange=SMALL)
    early = await volley(alice, bob)
    assert SMALL <= early <= SMALL + 4 * FLOW_SAMPLE
    await world.services.storms.lift((await only_stop(world)).id, await world.operator())
    await limit(world, exchange=2 * SMALL)
    assert await volley(alice, bob) > early


async def test_slow_progress_passes_a_stop_and_the_task_can_be_finished(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, progress=10)
    task = await alice.delegate("bob", "count")
    work = await bob.take(timeout=0, start=True)
    assert work is not None
    for n in range(11):  # the first one does not count as hurried
        await work.progress(f"at {n}")
    for _ in range(3):
        with pytest.raises(ProgressStorm):
            await work.progress("at 11")
    for n in range(20):
        world.pass_time(seconds=HURRY.total_seconds())
        await work.progress(f"slowly at {n}")
    with pytest.raises(ProgressStorm):
        await work.progress("at 12")
    assert len(await told(world, OPERATOR)) == 1
    assert await world.services.storms.lift(MessageId(task.id), await world.operator())
    await work.progress("at 13")
    await work.complete("done")
    result = await task.result(timeout=0)
    assert result is not None
    assert result.text == "done"


async def test_slow_progress_is_never_stopped(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, progress=10)
    await alice.delegate("bob", "count")
    work = await bob.take(timeout=0, start=True)
    assert work is not None
    for n in range(100):
        await work.progress(f"at {n}")
        world.pass_time(seconds=HURRY.total_seconds())
    assert not await world.events(Action.STORM_STOPPED)


# ----------------------------------------------------------------------------------------- exchanges that pass


@pytest.mark.requirement("trust.storm")
async def test_a_one_way_flood_passes(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    await limit(world, exchange=1)
    for n in range(1_000):
        await alice.send("bob", f"news {n}")
    assert not await world.events(Action.STORM_STOPPED)


async def test_a_worker_with_many_tasks_passes_and_may_ask_about_each(world: World) -> None:
    lead, worker = await world.join("lead", "worker")
    await limit(world, exchange=1)
    for n in range(200):
        await lead.delegate("worker", f"do {n}")
        work = await worker.take(timeout=0, start=True)
        assert work is not None
        await work.progress("half of it")
        asked = await worker.ask("lead", f"{'abcdefghij'[n % 10] * 5} or not?", timeout=0, in_reply_to=work.id)
        await lead.reply(asked.ticket.message_id, "yes")
        await work.complete("done")
    assert not await world.events(Action.STORM_STOPPED)


@pytest.mark.parametrize(
    "question",
    [
        "What does {0} {1} mean?",
        "Please translate the English word {0} into French, and reply with the word alone.",
        "Review src/{0}.py for style, read the guide in docs first, and reply with findings. " + "Be brief. " * 500,
    ],
)
async def test_questions_that_differ_in_one_word_pass_like_calls_of_a_service(world: World, question: str) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, exchange=1)
    for n in range(300):
        word = "".join("abcdefghij"[int(digit)] for digit in f"{n * 7919:06}")
        asked = await alice.ask("bob", question.format(word, word[::-1]), timeout=0)
        await bob.reply(asked.ticket.message_id, "a word")
    assert not await world.events(Action.STORM_STOPPED)


async def test_a_flood_in_one_direction_and_a_later_flood_back_pass(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, exchange=20 * FLOW_SAMPLE)
    for sender, to in ((alice, "bob"), (bob, "alice"), (alice, "bob")):
        for n in range(600):
            await sender.send(to, f"item {n}")
    assert not await world.events(Action.STORM_STOPPED)


async def test_a_flood_that_is_confirmed_now_and_then_passes(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for n in range(3_000):
        await alice.send("bob", f"item {n}")
        if n % 25 == 0:
            await bob.send("alice", f"I have {n}")
    assert not await world.events(Action.STORM_STOPPED)


async def test_a_loop_after_a_flood_is_stopped_like_any_other(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for n in range(1_000):
        await alice.send("bob", f"item {n}")
    assert await volley(alice, bob) < ENOUGH


async def test_a_message_that_was_refused_is_not_stored(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, exchange=SMALL)
    await volley(alice, bob)
    before = await world.position()
    with pytest.raises(ExchangeStorm):
        await alice.send("bob", "and another thing")
    assert await world.position() == before
    stop = await only_stop(world)
    assert (await world.delivery(stop.id)).message_id == parse_message_id(stop.id)
