"""Tasks by the two native tools, and their listing in read_inbox."""

import asyncio
from pathlib import Path

import pytest

import covey
from covey.core.json import Json
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind
from covey.core.ledger.offer import EvidenceGrade
from covey.core.work.task import TaskState
from covey.surfaces.python.member import Member
from covey.toolkits.tool import ToolAnswer
from tests.scenarios.tools import fields, refusal, use
from tests.scenarios.world import World, soon, waiting

HOW = "[update_task(task=1, state=…): accepted or rejected first; then completed with the result, or failed]"


async def do(member: Member, tool: str, **arguments: Json) -> ToolAnswer:
    """Call a native tool, which must succeed, and confirm the messages that it shows."""
    answer = await use(member, "native", tool, **arguments)
    assert not answer.is_error, answer
    if answer.offer is not None:
        await member.confirm(answer.offer, "witnessed", "the model's response")
    return answer


async def delegate(member: Member, to: str, text: str = "sort by mtime", **more: Json) -> str:
    """Delegate a task and return its id."""
    return fields(await do(member, "delegate_task", to=to, text=text, **more))["task"]


async def update(member: Member, task: Json, state: str, text: str = "") -> ToolAnswer:
    return await do(member, "update_task", task=task, state=state, text=text)


async def inbox(member: Member) -> list[str]:
    return (await do(member, "read_inbox", wait=0)).text.splitlines()


async def test_a_task_is_delegated_claimed_by_reading_and_its_result_read(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    handed = await do(alice, "delegate_task", to="bob", text="sort by mtime", deadline_minutes=30)
    task = fields(handed)["task"]
    assert handed.text == f"bob has task {task}. Its updates and its result come to your inbox."
    assert fields(handed)["deadline"] == "2026-01-01T00:30:00.000000+00:00"
    due = "due 2026-01-01T00:30:00+00:00"
    _, head, text, _ = await inbox(bob)
    assert head == f"#1 task from alice (session) at 2026-01-01T00:00:00+00:00, pending, {due} (id {task}) {HOW}"
    assert text == "  sort by mtime"
    assert await inbox(bob) == [
        "No new messages.",
        "Your tasks; report on them with update_task:",
        f'- #1 pending, from alice, {due}: "sort by mtime"',
    ]
    assert (await update(bob, 1, "accepted")).text == "The task is accepted; alice is told."
    assert (await inbox(alice))[-2:] == ["Tasks that you delegated:", f"- bob: task {task}, accepted: sort by mtime"]
    await update(bob, 1, "completed", "by mtime: a, b")
    told = await inbox(alice)
    at = "at 2026-01-01T00:00:00+00:00"
    assert f"#3 update from bob (session) {at}: task {task} of bob is completed" in told
    assert "  by mtime: a, b" in told
    assert "Tasks that you delegated:" not in told
    assert await inbox(bob) == ["No new messages."]


async def test_an_offline_agent_finds_the_task_when_it_is_back(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await bob.leave()
    handed = await do(alice, "delegate_task", to="bob", text="sort")
    assert "bob is offline now: it waits." in handed.text
    (back,) = await world.join("bob")
    assert "  sort" in await inbox(back)


async def test_reading_waits_for_a_task_too(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    reading = asyncio.create_task(do(bob, "read_inbox", wait=25))
    await delegate(alice, "bob")
    assert "sort by mtime" in (await soon(_done(reading))).text


async def _done(task: "asyncio.Task[ToolAnswer]") -> ToolAnswer:
    return await task


async def test_a_part_of_a_task_names_the_whole_and_its_result_comes_back(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    whole = await delegate(alice, "bob")
    await inbox(bob)
    handed = await do(bob, "delegate_task", to="carol", text="the second half")
    part = fields(handed)["task"]
    assert f"carol has task {part}, a part of task {whole}." in handed.text
    await inbox(carol)
    await update(carol, 1, "completed", "half done")
    assert f": task {part} of carol is completed" in "\n".join(await inbox(bob))
    assert fields(await do(bob, "update_task", task=1, state="completed", text="all"))["state"] == "completed"
    assert await world.services.audit.check() == []


async def test_ambiguous_tasks_exhausted_hops_and_circles_are_refused_with_a_reason(world: World) -> None:
    a, b, _, d, e = await world.join("a", "b", "c", "d", "e")
    await delegate(a, "b", "one")
    await delegate(a, "b", "two")
    await inbox(b)
    told = await refusal(b, "native", "delegate_task", to="d", text="help")
    assert 'you have #1 pending, from a: "one"; #2 pending, from a: "two": say which one' in told
    circle = await use(b, "native", "delegate_task", to="a", text="back", for_task=1)
    assert circle.is_error
    assert circle.text == "a does not get it: circular-route: a is already on the path a → b."
    await delegate(b, "d", "three", for_task=2)
    await inbox(d)
    await delegate(d, "e", "four")
    await inbox(e)
    assert "Handle the message yourself" in await refusal(e, "native", "delegate_task", to="c", text="five")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("delegate_task", {"to": "alice", "text": " "}, "say what is to be done"),
        ("delegate_task", {"to": "alice"}, "delegate_task needs it"),
        ("delegate_task", {"to": "alise", "text": "sort"}, "did you mean alice?"),
        ("delegate_task", {"to": "alice", "text": "sort", "deadline_minutes": 0}, "use more than 0"),
        ("delegate_task", {"to": "alice", "text": "sort", "deadline_minutes": -5}, "use more than 0"),
        ("delegate_task", {"to": "alice", "text": "sort", "deadline_minutes": 1e12}, "at most 527,040"),
        ("delegate_task", {"to": "alice", "text": "sort", "deadline_minutes": "soon"}, "use a number"),
        ("update_task", {"task": 1, "state": "done"}, "use accepted or working"),
        ("update_task", {"task": 1, "state": "failed"}, "say why it is failed"),
        ("update_task", {"task": 1, "state": "rejected", "text": " "}, "say why it is rejected"),
        ("update_task", {"task": 9, "state": "accepted"}, "bob has no message with the number 9"),
        ("update_task", {"task": 2, "state": "accepted"}, "it is not a task; your tasks: "),
        ("dismiss_message", {"messages": [1]}, "update_task(task=1, state=rejected or failed)"),
    ],
)
async def test_a_wrong_call_is_refused_with_a_reason_and_changes_nothing(
    world: World, tool: str, arguments: dict[str, Json], said: str
) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await delegate(alice, "bob")
    await alice.send("bob", "hello")
    await inbox(bob)
    position = await world.position()
    assert said in await refusal(bob, "native", tool, **arguments)
    assert await world.position() == position
    assert (await world.services.tasks.view((await world.delivery(task)).message_id)).task.state is TaskState.PENDING


async def test_files_travel_both_ways(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("b a")
    (tmp_path / "sorted.txt").write_text("a b")
    async with covey.open("memory:", roots=[str(tmp_path)]) as space:
        alice, bob = await space.join("alice"), await space.join("bob")
        await delegate(alice, "bob", files=[str(tmp_path / "names.txt")])
        assert "  b a" in (await do(bob, "read_inbox", message=1)).text.splitlines()
        await inbox(bob)
        await do(bob, "update_task", task=1, state="completed", text="here", files=[str(tmp_path / "sorted.txt")])
        *_, result = await alice.inbox.peek()
        assert await result.file(result.files[0]) == b"a b"
        assert "is outside the declared roots" in await refusal(
            bob, "native", "delegate_task", to="alice", text="x", files=["/etc/passwd"]
        )


async def test_naming_a_task_proves_that_it_was_read(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await delegate(alice, "bob")
    answer = await use(bob, "native", "read_inbox", wait=0)
    assert answer.offer is not None
    await update(bob, 1, "working", "begun")
    assert (await world.delivery(task)).grade is EvidenceGrade.NAMED
    (evidence,) = await world.events(Action.EVIDENCE)
    assert evidence.details["basis"] == "named in update_task"


async def test_the_conversation_of_a_task_has_its_updates(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await delegate(alice, "bob")
    await inbox(bob)
    await update(bob, 1, "working", "half of it")
    thread = (await do(bob, "read_inbox", message=1)).text
    at = "2026-01-01T00:00:00.000000+00:00"
    assert f"task from alice (session) to bob at {at}:\n  sort by mtime" in thread
    assert f"update from bob (session) to alice at {at}, the task is working:\n  half of it" in thread


async def test_a_delegated_task_can_be_taken_back(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    task = await delegate(alice, "bob")
    await inbox(bob)
    assert (await update(alice, task, "failed", "not needed")).text == "The task is failed; bob is told."
    assert any("Stop working" in line for line in await inbox(bob))
    updates = [d for d in await alice.inbox.peek() if d.message.kind is Kind.UPDATE]
    assert [d.message.task and d.message.task.state for d in updates] == ["failed"]
    assert await waiting(bob) == []
