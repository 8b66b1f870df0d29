"""Tasks: delegated, accepted within the quota, done by one session, reported once, and never lost."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from covey.core.channels.post import PostState
from covey.core.directory.card import Card
from covey.core.errors import (
    HopsExhausted,
    IllegalMove,
    Invalid,
    KindRule,
    NotYours,
    QuotaFull,
    TaskTaken,
    TaskUnknown,
)
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.message import Callback, Kind
from covey.core.names import AgentName
from covey.core.work.task import TASK_MOVES, TaskMove, TaskState
from covey.ports.store import Transaction
from covey.services.records import known_message
from covey.surfaces.python.member import Member
from covey.surfaces.python.tasks import Assignment
from tests.scenarios.world import LIMIT_S, World, soon

COMPLETED, FAILED, PENDING = TaskState.COMPLETED, TaskState.FAILED, TaskState.PENDING
REJECTED, ACCEPTED, WORKING = TaskState.REJECTED, TaskState.ACCEPTED, TaskState.WORKING


async def taken(member: Member) -> Assignment:
    """Let a member take its next task, which must exist."""
    assignment = await member.take(timeout=0)
    assert assignment is not None, f"nothing to do for {member.name}"
    return assignment


async def updates(member: Member) -> Sequence[tuple[str | None, str]]:
    """Return the pending task updates of a member: state and text, in order."""
    waiting = await member.inbox.peek()
    return [(d.message.task.state, d.text) for d in waiting if d.message.task and d.message.kind is Kind.UPDATE]


async def told(member: Member) -> Sequence[str | None]:
    return [state for state, _ in await updates(member)]


async def join(world: World, name: str, quota: int = 3, overflow: str = "queue", **card: object) -> Member:
    """Let an agent join in its own process."""
    return await world.process().join(name, card={"quota": quota, "overflow": overflow, **card})  # type: ignore[dict-item]


@pytest.mark.requirement("mailbox.task.lifecycle")
async def test_each_move_is_reported_to_the_delegator_once(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await alice.delegate("bob", "write the parser")
    assert (task.state, await told(alice)) == (PENDING, [])
    work = await taken(bob)
    assert (work.text, work.delegator, await told(alice)) == ("write the parser", "alice", ["accepted"])
    await work.start()
    assert await told(alice) == ["accepted", "working"]
    await work.progress("half of it")
    await work.complete("it parses", data={"tests": 12})
    assert await updates(alice) == [
        ("accepted", "Your task to bob is accepted."),
        ("working", "Your task to bob is working."),
        ("working", "half of it"),
        ("completed", "it parses"),
    ]
    moves = await world.events(Action.TASK_MOVED)
    assert [event.details["move"] for event in moves] == ["accept", "start", "progress", "complete"]
    assert {event.actor.agent for event in moves} == {"bob"}
    result = await task.result(timeout=0)
    assert result is not None
    assert (task.state, result.text) == (COMPLETED, "it parses")
    assert await told(alice) == []  # `result` returned the update, which does not arrive again
    assert (await world.delivery(task.id)).state is DeliveryState.HANDLED


@pytest.mark.requirement("mailbox.task.lifecycle")
@pytest.mark.parametrize("state", TaskState)
async def test_any_illegal_move_is_refused_and_changes_nothing(world: World, state: TaskState) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await alice.delegate("bob", "write the parser")
    duties, tasks = world.services.duties, world.services.tasks
    if state is not PENDING:
        await (
            duties.reject(task.id, bob.identity, "no") if state is REJECTED else duties.accept(task.id, bob.identity)
        )
    if state in (WORKING, COMPLETED):
        await duties.start(task.id, bob.identity)
    if state is COMPLETED:
        await duties.complete(task.id, bob.identity, ())
    if state is FAILED:
        await duties.fail(task.id, bob.identity, "no")
    moves = {
        TaskMove.ACCEPT: lambda: duties.accept(task.id, bob.identity),
        TaskMove.REJECT: lambda: duties.reject(task.id, bob.identity, "no"),
        TaskMove.START: lambda: duties.start(task.id, bob.identity),
        TaskMove.PROGRESS: lambda: duties.progress(task.id, bob.identity, ()),
        TaskMove.COMPLETE: lambda: duties.complete(task.id, bob.identity, ()),
        TaskMove.FAIL: lambda: duties.fail(task.id, bob.identity, "no"),
        TaskMove.CANCEL: lambda: tasks.cancel(task.id, alice.identity),
    }
    position = await world.position()
    for move in moves.keys() - TASK_MOVES[state].keys():
        with pytest.raises(IllegalMove):
            await moves[move]()
    assert await world.position() == position
    assert (await task.refresh()).state is state


@pytest.mark.requirement("mailbox.task.lifecycle")
async def test_a_cancelled_task_is_failed_and_its_worker_is_told_to_stop(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await alice.delegate("bob", "write the parser")
    work = await taken(bob)
    await work.start()
    await task.cancel("not needed any more")
    assert (task.state, task.reason) == (FAILED, "cancelled: not needed any more")
    assert await told(alice) == ["accepted", "working", "failed"]
    ((state, text),) = await updates(bob)
    assert state == "failed"
    assert "Stop working" in text
    with pytest.raises(IllegalMove):
        await work.complete("too late")


async def test_a_task_that_was_cancelled_before_its_claim_is_never_taken(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await alice.delegate("bob", "write the parser")
    await task.cancel()
    assert await bob.take(timeout=0) is None
    assert (await updates(bob), await told(alice)) == ([], ["failed"])
    withdrawn = await alice.delegate("bob", "write the parser")
    await alice.withdraw(withdrawn.id)
    assert (await withdrawn.refresh()).reason == "cancelled: its message was withdrawn"
    assert await bob.take(timeout=0) is None


async def test_only_the_agent_moves_a_task_and_only_its_delegator_cancels_it(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    task = await alice.delegate("bob", "write the parser")
    duties = world.services.duties
    for member in (alice, carol):
        with pytest.raises(NotYours):
            await duties.accept(task.id, member.identity)
    for member in (bob, carol):
        with pytest.raises(NotYours):
            await world.services.tasks.cancel(task.id, member.identity)
    operator = await world.operator()
    assert (await duties.accept(task.id, operator)).state is ACCEPTED
    assert (await world.services.tasks.cancel(task.id, operator)).state is FAILED
    assert await told(alice) == ["accepted", "failed"]


# ------------------------------------------------------------------------------------------------- acceptance


@pytest.mark.requirement("mailbox.task.accept")
async def test_a_sender_that_is_not_allowed_is_rejected_first(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await join(world, "carol", allow_from=["bob"])
    refused = await alice.delegate("carol", "write the parser")
    assert refused.state is REJECTED
    assert refused.reason is not None
    assert "carol takes no mail from alice (allow_from)" in refused.reason
    later = await alice.delegate("bob", "write the parser")
    await world.process().join("bob", card={"allow_from": ["carol"]})
    assert await bob.take(timeout=0) is None  # the card has changed since
    assert (await later.refresh()).reason == "bob takes no tasks from alice (allow_from)"
    assert await told(alice) == ["rejected"]


@pytest.mark.requirement("mailbox.task.accept")
async def test_over_the_quota_the_card_says_reject_or_queue(world: World) -> None:
    (alice,) = await world.join("alice")
    strict = await join(world, "strict", quota=2, overflow="reject")
    patient = await join(world, "patient", quota=2)
    states = [(await alice.delegate("strict", f"task {n}")).state for n in range(3)]
    assert states == [PENDING, PENDING, REJECTED]
    queued = [await alice.delegate("patient", f"task {n}") for n in range(3)]
    assert [task.state for task in queued] == [PENDING, PENDING, PENDING]
    first, _ = await taken(patient), await taken(patient)
    assert await patient.take(timeout=0) is None
    with pytest.raises(QuotaFull):
        await world.services.duties.accept(queued[2].id, patient.identity)
    await first.start()
    await first.complete("done")
    assert (await taken(patient)).text == "task 2"
    for _ in range(2):
        await (await taken(strict)).fail("no")
    assert (await alice.delegate("strict", "again")).state is PENDING


@pytest.mark.requirement("mailbox.task.accept")
async def test_an_agent_with_a_quota_of_0_takes_no_tasks(world: World) -> None:
    (alice,) = await world.join("alice")
    await join(world, "bob", quota=0)
    task = await alice.delegate("bob", "write the parser")
    assert (task.state, task.reason) == (REJECTED, "over-quota: bob takes no tasks (its quota is 0)")


@pytest.mark.requirement("mailbox.task.accept")
async def test_a_task_past_its_deadline_is_rejected(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    with pytest.raises(Invalid, match="passed already"):
        await alice.delegate("bob", "write the parser", deadline=world.clock.now())
    task = await alice.delegate("bob", "write it", deadline=world.clock.now() + timedelta(minutes=5))
    world.pass_time(minutes=5)
    after = await world.services.duties.accept(task.id, bob.identity)
    assert (after.state, after.reason) == (REJECTED, "its deadline passed")
    assert await told(alice) == ["rejected"]


@pytest.mark.requirement("mailbox.task.accept")
async def test_an_agents_own_judgement_comes_last_and_its_reason_is_reported(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked: list[str] = []

    async def judgement(work: Assignment) -> bool | str:
        asked.append(work.text)
        return True if "parser" in work.text else "I write parsers only"

    other = await alice.delegate("bob", "bake a cake")
    task = await alice.delegate("bob", "write the parser")
    late = await alice.delegate("bob", "write another parser", deadline=world.clock.now() + timedelta(minutes=1))
    world.pass_time(minutes=2)
    work = await bob.take(timeout=0, judgement=judgement)
    assert work is not None
    assert (work.id, work.state) == (task.id, ACCEPTED)
    assert (await other.refresh()).reason == "I write parsers only"
    assert await bob.take(timeout=0, judgement=judgement) is None
    assert (await late.refresh()).reason == "its deadline passed"
    assert asked == ["bake a cake", "write the parser"]


@pytest.mark.requirement("mailbox.task.accept")
async def test_the_quota_holds_when_many_sessions_take_at_once(world: World) -> None:
    (alice,) = await world.join("alice")
    sessions = [await join(world, "bob", quota=3) for _ in range(8)]
    for n in range(20):
        await alice.delegate("bob", f"task {n}")
    async with asyncio.timeout(LIMIT_S):
        got = await asyncio.gather(*(session.take(timeout=0) for session in sessions))
    assert len([work for work in got if work]) == 3
    assert len((await world.observer.agent("bob")).current_tasks) == 3


# --------------------------------------------------------------------------------------- claims and deadlines


async def test_a_task_belongs_to_one_session_and_others_are_refused(world: World) -> None:
    alice, first, second = await world.join("alice", "bob", "bob")
    task = await alice.delegate("bob", "write the parser")
    work = await taken(first)
    with pytest.raises(TaskTaken, match=first.session.id):
        await world.services.duties.start(task.id, second.identity)
    assert await second.take(timeout=0) is None
    await work.start()


@pytest.mark.requirement("mailbox.task.crash")
async def test_a_task_whose_session_died_is_reported_and_taken_by_the_next(world: World) -> None:
    alice, first, second = await world.join("alice", "bob", "bob")
    await alice.delegate("bob", "write the parser")
    work = await taken(first)
    await work.start()
    world.kill(first)
    await world.tend()
    *_, (state, text) = await updates(alice)
    assert (state, "has ended" in text) == ("working", True)
    await world.tend()
    assert len(await updates(alice)) == 3  # reported once
    again = await taken(second)
    assert (again.id, again.state, again.attempt) == (work.id, WORKING, 2)
    with pytest.raises(TaskTaken):
        await work.complete("I live on")
    await again.complete("done")
    assert (await told(alice))[-1] == "completed"


async def test_a_task_whose_sessions_keep_dying_fails_after_the_third(world: World) -> None:
    (alice,) = await world.join("alice")
    task = await alice.delegate("bob", "divide by zero", when_unknown="register")
    for attempt in (1, 2, 3):
        (bob,) = await world.join("bob")
        work = await taken(bob)
        assert work.attempt == attempt
        if attempt == 1:
            await work.start()
        world.kill(bob)
    (last,) = await world.join("bob")
    assert await last.take(timeout=0) is None
    assert (await task.refresh()).reason == "3 sessions took it up and ended before it was finished"
    assert (await told(alice))[-1] == "failed"


@pytest.mark.requirement("mailbox.task.crash")
async def test_a_dead_agents_task_fails_at_the_deadline(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await alice.delegate("bob", "write it", deadline=world.clock.now() + timedelta(minutes=5))
    work = await taken(bob)
    await work.start()
    world.kill(bob)
    world.pass_time(minutes=5)
    assert (await task.refresh()).state is FAILED  # every reader sees it, recorded or not
    await world.tend()
    assert (await updates(alice))[-1] == ("failed", "Your task to bob is failed: its deadline passed")
    assert (await told(alice)).count("failed") == 1
    await world.tend()
    assert (await told(alice)).count("failed") == 1


async def test_a_deadline_stops_the_worker(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.delegate("bob", "write it", deadline=world.clock.now() + timedelta(minutes=5))
    work = await taken(bob)
    await work.start()
    world.pass_time(minutes=6)
    with pytest.raises(IllegalMove):
        await work.complete("a minute late")
    await world.tend()
    ((state, _),) = await updates(bob)
    assert state == "failed"


async def test_a_task_whose_message_expired_has_failed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await alice.delegate("bob", "write it", expires_in=timedelta(minutes=5))
    world.pass_time(minutes=6)
    await world.tend()
    assert (await task.refresh()).state is FAILED
    assert await bob.take(timeout=0) is None


async def test_a_delegator_that_was_offline_finds_every_update_when_it_is_back(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await alice.delegate("bob", "write the parser")
    await alice.leave()
    work = await taken(bob)
    await work.start()
    await work.complete("done")
    (again,) = await world.join("alice")
    assert await told(again) == ["accepted", "working", "completed"]
    assert (await world.services.tasks.view(task.id)).task.state is COMPLETED


async def test_only_the_newest_progress_update_is_pending(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    tasks = [await alice.delegate("bob", f"part {n}", scope="build", subject="parser") for n in (1, 2)]
    first, second = await taken(bob), await taken(bob)
    for work in (first, second):
        await work.start()
        for percent in (10, 50, 90):
            await work.progress(f"{percent} % of {work.text}")
    texts = [text for _, text in await updates(alice) if "%" in text]
    assert texts == ["90 % of part 1", "90 % of part 2"]  # the updates of one task never supersede those of another
    for work in (first, second):
        await work.complete("done")
    assert (await told(alice)).count("completed") == len(tasks)


# ---------------------------------------------------------------------------------------------------- the tree


@pytest.mark.requirement("mailbox.callback")
async def test_callback_ttl_and_trace_travel_through_every_relay(world: World) -> None:
    alice, bob, carol, dave = await world.join("alice", "bob", "carol", "dave")
    task = await alice.delegate("bob", "write a sorter", callback=("feishu", "feishu:user_123"))
    part = await (await taken(bob)).delegate("carol", "write the comparison")
    piece = await (await taken(carol)).delegate("dave", "write less-than")
    last = await taken(dave)
    assert last.message.callback == Callback("feishu", "feishu:user_123")
    assert (last.message.hops_left, last.message.trace) == (0, ("alice", "bob", "carol"))
    with pytest.raises(HopsExhausted):
        await last.delegate("alice", "you do it")
    await last.start()
    await last.complete("a < b")
    result = await piece.result(timeout=0)
    assert result is not None
    assert (result.callback, result.to[0].value) == (Callback("feishu", "feishu:user_123"), "carol")
    tree = await task.tree()
    assert [(view.task.id, view.task.parent) for view in tree] == [
        (task.id, None),
        (part.id, task.id),
        (piece.id, part.id),
    ]


async def test_a_task_cannot_return_to_an_agent_on_its_path(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    await alice.delegate("bob", "write a sorter")
    part = await (await taken(bob)).delegate("carol", "write the comparison")
    back = await (await taken(carol)).delegate("alice", "you do it")
    assert (back.state, part.state) == (REJECTED, PENDING)
    assert back.reason is not None
    assert back.reason.startswith("circular-route")


# --------------------------------------------------------------------------------------------------- the rest


async def test_a_task_is_handed_over_once_however_often_it_is_sent(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    first = await alice.delegate("bob", "write the parser")
    again = await alice.delegate("bob", "write the parser", id=first.id)
    assert again.id == first.id
    await taken(bob)
    assert await bob.take(timeout=0) is None


async def test_watching_shows_every_step_until_the_end(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await alice.delegate("bob", "write the parser")

    async def watch() -> list[object]:
        return [event.details["move"] async for event in task.watch()]

    watching = asyncio.create_task(watch())
    work = await soon(_take(bob))
    await work.start()
    await work.complete("done")
    assert await soon(_result(watching)) == ["accept", "start", "complete"]


async def _take(bob: Member) -> Assignment:
    work = await bob.take(timeout=5)
    assert work is not None
    return work


async def _result(watching: "asyncio.Task[list[object]]") -> list[object]:
    return await watching


async def test_wrong_delegations_are_refused_with_a_reason(world: World) -> None:
    alice, _ = await world.join("alice", "bob")
    with pytest.raises(KindRule, match="one agent"):
        await alice.delegate("*", "everybody")
    note = await alice.send("bob", "hello")
    with pytest.raises(TaskUnknown):
        await world.services.tasks.view(note.message_id)
    assert await alice.take(timeout=0) is None


async def test_an_agent_with_tasks_is_busy(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await alice.delegate("bob", "write the parser")
    assert (await world.observer.agent("bob")).presence == "idle"
    work = await taken(bob)
    seen = await world.observer.agent("bob")
    assert (seen.presence, seen.current_tasks) == ("busy", (task.id,))
    await work.fail("no")
    assert (await world.observer.agent("bob")).presence == "idle"


@pytest.mark.requirement("mailbox.callback")
async def test_the_result_of_a_task_reaches_the_conversation_that_it_came_from_once(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    await world.services.directory.register(AgentName("feishu"), Card(channel=True), alice.identity)
    task = await alice.delegate("bob", "write a sorter", callback=("feishu", "feishu:user_123"))
    work = await taken(bob)
    await work.start()
    part = await work.delegate("carol", "write the comparison")
    piece = await taken(carol)
    await piece.start()
    await piece.complete("a < b")  # the result of a part is for its delegator and not for the user
    assert (await part.result(timeout=0)) is not None
    assert await posts(world) == []
    await work.complete("sort_by_mtime() is there")
    ((conversation, text),) = await posts(world)
    assert (conversation, text) == ("feishu:user_123", "sort_by_mtime() is there")
    assert await told(alice) == ["accepted", "working", "completed"]
    assert (await task.refresh()).state is COMPLETED


async def posts(world: World) -> Sequence[tuple[str, str]]:
    """Return the pending posts of the channel: conversation and text."""

    async def operation(tx: Transaction) -> Sequence[tuple[str, str]]:
        found = await tx.posts.find(AgentName("feishu"), PostState.PENDING, 100)
        return [(post.conversation, (await known_message(tx, post.message_id)).text) for post in found]

    return await world.observer.store.read(operation)
