"""Tasks by the tools of the mailbox toolkit: delegated, accepted or rejected, worked on, finished, and listed."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import covey
from covey.core.formats.mailbox import mailbox_document
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import Callback, Kind
from covey.core.ledger.offer import EvidenceGrade
from covey.core.times import format_instant
from covey.core.work.task import TASK_MOVES, TaskState, ahead_of
from covey.surfaces.python.member import Member
from covey.toolkits.tool import ToolAnswer
from tests.scenarios.tools import fields, refusal, use
from tests.scenarios.world import World, show, waiting

FEISHU: dict[str, Json] = {"session_id": "feishu:user_123", "channel": "feishu"}


def text(words: str) -> dict[str, Json]:
    return {"type": "text", "text": words}


async def delegate(member: Member, to: str, words: str = "sort by mtime", **more: Json) -> Mapping[str, Any]:
    """Delegate a task, which must succeed. Return its document."""
    answer = await use(member, "mailbox", "delegate_task", to=to, parts=[text(words)], **more)
    assert not answer.is_error, answer
    return fields(answer)


async def update(member: Member, task: Json, state: str, words: str | None = None, **more: Json) -> ToolAnswer:
    parts = {} if words is None else {"parts": [text(words)]}
    return await use(member, "mailbox", "update_task", task=task, state=state, **parts, **more)


async def told(member: Member) -> Sequence[tuple[str, str]]:
    """Return the updates that a member got, by state and text, in the form of mailboxes."""
    documents = [mailbox_document(d.message) for d in await member.inbox.peek() if d.message.kind is Kind.UPDATE]
    found: list[tuple[str, str]] = []
    for document in json.loads(json.dumps(documents)):
        assert document["type"] == "task_update"
        found.append((document["task"]["state"], document["content"]["parts"][0]["text"]))
    return found


async def states(member: Member) -> Sequence[str]:
    return [state for state, _ in await told(member)]


async def listed(member: Member, **wanted: Json) -> Sequence[tuple[str, str]]:
    """Return the tasks that a member is shown in a list, by state and text."""
    tasks = fields(await use(member, "mailbox", "list_tasks", **wanted))["tasks"]
    return [(task["task"]["state"], task["content"]["parts"][0]["text"]) for task in tasks]


# ------------------------------------------------------------------------------------------------ delegate_task


async def test_a_task_has_the_documented_fields(world: World) -> None:
    researcher, coder = await world.join("researcher", "coder")
    deadline = format_instant(world.clock.now() + timedelta(hours=1))
    document = await delegate(researcher, "coder", deadline=deadline, callback=FEISHU, metadata={"priority": 1})
    task_id = document["id"]
    assert document == {
        "id": task_id,
        "from": "researcher",
        "to": "coder",
        "timestamp": format_instant(world.clock.now()),
        "type": "task",
        "ttl": 2,
        "trace": ["researcher"],
        "task": {"id": task_id, "state": "pending", "deadline": deadline},
        "content": {"parts": [text("sort by mtime")]},
        "callback": FEISHU,
        "reply_to": None,
        "metadata": {"priority": 1},
        "delivery": "delivered",
    }
    assert (await world.services.tasks.view(task_id)).task.agent == coder.name
    await coder.leave()
    assert (await delegate(researcher, "coder"))["delivery"] == "waits until it is back"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"to": "codr"}, "did you mean coder? Known agents: coder."),
        ({"to": "researcher"}, "that is you"),
        ({"parts": []}, "a message has 1 to 256 parts"),
        ({"parts": [{"type": "text"}]}, 'it needs "text"'),
        ({"deadline": "tomorrow"}, "use ISO 8601 with a zone"),
        ({"deadline": "2025-12-31T00:00:00Z"}, "it has passed already"),
        ({"deadline": "2026-05-01T00:00:00"}, "it needs a zone"),
        ({"callback": {"channel": "feishu"}}, "use an object with channel and session_id"),
        ({"for_task": 9}, "researcher has no message with the number 9"),
        ({"for_task": "my task"}, "use the number of a message"),
        ({"task": 1}, "delegate_task takes to, parts, deadline, callback, metadata, for_task"),
    ],
)
async def test_a_wrong_task_is_refused_with_a_reason_and_not_delegated(
    world: World, wrong: dict[str, Json], said: str
) -> None:
    researcher, coder = await world.join("researcher", "coder")
    right: dict[str, Json] = {"to": "coder", "parts": [text("sort")]}
    assert said in await refusal(researcher, "mailbox", "delegate_task", **{**right, **wrong})
    assert await listed(coder) == []


async def test_a_part_of_the_only_held_task_relays_it(world: World) -> None:
    a, b, c, d, e = await world.join("a", "b", "c", "d", "e")
    first = await delegate(a, "b", callback=FEISHU)
    seen = [(first["ttl"], first["trace"])]
    for holder, to in ((b, "c"), (c, "d")):
        await update(holder, 1, "accepted")
        passed = await delegate(holder, to)
        assert passed["callback"] == FEISHU
        seen.append((passed["ttl"], passed["trace"]))
    assert seen == [(2, ["a"]), (1, ["a", "b"]), (0, ["a", "b", "c"])]
    await update(d, 1, "accepted")
    told = await refusal(d, "mailbox", "delegate_task", to="e", parts=[text("on")])
    assert "has no hops left. Handle the message yourself" in told
    assert not (await use(d, "mailbox", "delegate_task", to="e", parts=[text("x")], for_task="none")).is_error
    tree = await world.services.tasks.tree(first["id"])
    assert [(view.task.delegator, view.task.agent) for view in tree] == [("a", "b"), ("b", "c"), ("c", "d")]
    assert await listed(e) == [("pending", "x")]


async def test_a_circle_is_refused_with_its_path(world: World) -> None:
    a, b, c = await world.join("a", "b", "c")
    await delegate(a, "b")
    await update(b, 1, "accepted")
    await delegate(b, "c")
    await update(c, 1, "working")
    answer = await use(c, "mailbox", "delegate_task", to="a", parts=[text("back to you")])
    assert answer.is_error
    assert fields(answer)["delivery"] == "refused: circular-route: a is already on the path a → b → c"
    assert fields(answer)["task"]["state"] == "rejected"
    assert await listed(a) == []


async def test_with_several_held_tasks_the_model_must_name_one(world: World) -> None:
    a, b, c = await world.join("a", "b", "c")
    await delegate(a, "b", "sort", callback=FEISHU)
    await delegate(a, "b", "count")
    for number in (1, 2):
        await update(b, number, "accepted")
    told = await refusal(b, "mailbox", "delegate_task", to="c", parts=[text("help")])
    assert '#1 accepted, from a: "sort"; #2 accepted, from a: "count"' in told
    assert "say which one this is a part of, or none" in told
    assert (await delegate(b, "c", for_task=1))["callback"] == FEISHU
    assert (await delegate(b, "c", for_task="#2"))["trace"] == ["a", "b"]
    alone = await delegate(b, "c", for_task="none")
    assert (alone["trace"], alone["callback"]) == (["b"], None)
    foreign = await delegate(a, "c")
    assert "a task that is yours to do" in await refusal(
        b, "mailbox", "delegate_task", to="c", parts=[text("x")], for_task=foreign["id"]
    )
    assert await listed(c) == [("pending", "sort by mtime")] * 4


async def test_a_task_for_a_message_keeps_its_conversation_and_spends_no_hop(world: World) -> None:
    feishu, a, b = await world.join("feishu", "a", "b")
    sent = await feishu.send("a", "please sort", callback=("feishu", "feishu:user_123"))
    await show(a)
    document = await delegate(a, "b", for_task=1)
    assert (document["callback"], document["ttl"], document["trace"]) == (FEISHU, 2, ["a"])
    assert (await world.delivery(sent.message_id)).grade is EvidenceGrade.NAMED
    assert await listed(b) == [("pending", "sort by mtime")]


# -------------------------------------------------------------------------------------------------- update_task


@pytest.mark.requirement("mailbox.task.lifecycle")
async def test_each_state_is_reported_to_the_delegator_once(world: World) -> None:
    a, b = await world.join("a", "b")
    task = (await delegate(a, "b", callback=FEISHU))["id"]
    await show(b)
    for state, words in (
        ("accepted", "I will."),
        ("working", None),
        ("working", "half of it"),
        ("completed", "sorted"),
    ):
        answer = await update(b, 1, state, words)
        assert fields(answer)["task"] == {"id": task, "state": state, "deadline": None}
        assert (fields(answer)["callback"], "content" in fields(answer)) == (FEISHU, False)
    assert await told(a) == [
        ("accepted", "I will."),
        ("working", "Your task to b is working."),
        ("working", "half of it"),
        ("completed", "sorted"),
    ]
    assert {d.message.callback for d in await a.inbox.peek()} == {Callback("feishu", "feishu:user_123")}
    delivery = await world.delivery(task)
    assert (delivery.state, delivery.grade) == (DeliveryState.HANDLED, EvidenceGrade.NAMED)


@pytest.mark.requirement("mailbox.task.lifecycle")
@pytest.mark.parametrize(
    ("before", "state", "after"),
    [
        ([], "working", ["accepted", "working"]),
        ([], "completed", ["accepted", "working", "completed"]),
        ([], "failed", ["failed"]),
        ([], "rejected", ["rejected"]),
        (["accepted"], "completed", ["accepted", "working", "completed"]),
        (["accepted"], "failed", ["accepted", "failed"]),
        (["working"], "failed", ["accepted", "working", "failed"]),
    ],
)
async def test_intermediate_moves_are_made_and_reported(
    world: World, before: list[str], state: str, after: list[str]
) -> None:
    a, b = await world.join("a", "b")
    await delegate(a, "b")
    for earlier in before:
        await update(b, 1, earlier)
    assert not (await update(b, 1, state, "so it is")).is_error
    assert await states(a) == after
    assert (await told(a))[-1] == (state, "so it is")


@pytest.mark.requirement("mailbox.task.lifecycle")
@pytest.mark.parametrize("state", TaskState)
async def test_an_impossible_state_is_refused_and_not_reported(world: World, state: TaskState) -> None:
    a, b = await world.join("a", "b")
    await delegate(a, "b")
    if state is not TaskState.PENDING:
        await update(b, 1, state, "so it is")
    before = await told(a)
    impossible = {other for other in TaskState if other is not TaskState.PENDING} - {*ahead_of(state)}
    assert impossible or state is TaskState.PENDING
    for other in impossible:
        answer = await update(b, 1, other, "no")
        assert answer.is_error
        assert str(state) in answer.text
        for after in ahead_of(state):
            assert after in answer.text, "it says what is possible"
    assert await told(a) == before
    assert TASK_MOVES[state] or len(impossible) == 5


@pytest.mark.requirement("mailbox.task.lifecycle")
async def test_the_delegator_can_take_a_task_back_as_failed_and_the_worker_stops(world: World) -> None:
    a, b = await world.join("a", "b")
    task = (await delegate(a, "b"))["id"]
    await update(b, 1, "working")
    assert "b does that task; you can take it back with failed" in (await update(a, task, "completed")).text
    answer = await update(a, task, "failed", reason="not needed")
    assert fields(answer)["task"]["reason"] == "cancelled: not needed"
    assert await states(a) == ["accepted", "working", "failed"]
    ((state, words),) = await told(b)
    assert state == "failed"
    assert words.startswith("Stop working on task")
    assert "failed can't become completed" in (await update(b, 1, "completed", "done")).text


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"state": "done"}, "use accepted or working or completed or failed or rejected"),
        ({"state": "complete"}, "use completed"),
        ({"state": "pending"}, "use accepted or working"),
        ({"task": 7}, "b has no message with the number 7. Waiting: #1 from a, #2 from a."),
        ({"task": 2}, 'it is not a task; your tasks: #1 accepted, from a: "sort by mtime"'),
        ({"task": "the first"}, "use the number of a message"),
        ({"state": "failed", "parts": None}, "say why it is failed"),
        ({"parts": "sorted"}, "use a list of objects"),
        ({"result": "sorted"}, "update_task takes task, state, parts, reason"),
    ],
)
async def test_a_wrong_update_is_refused_with_a_reason_and_changes_nothing(
    world: World, wrong: dict[str, Json], said: str
) -> None:
    a, b = await world.join("a", "b")
    await delegate(a, "b")
    await a.send("b", "hello")
    await update(b, 1, "accepted")
    before = await told(a)
    right: dict[str, Json] = {"task": 1, "state": "completed", "parts": [text("sorted")]}
    assert said in await refusal(b, "mailbox", "update_task", **{**right, **wrong})
    assert await told(a) == before


async def test_only_the_holding_session_can_update_a_task(world: World) -> None:
    a, b, other = await world.join("a", "b", "b")
    task = (await delegate(a, "b"))["id"]
    await update(b, 1, "accepted")
    assert "Leave it to that session." in (await update(other, 1, "completed", "mine")).text
    (stranger,) = await world.join("c")
    assert "Leave it to the agent that it belongs to." in (await update(stranger, task, "completed", "mine")).text
    assert await states(a) == ["accepted"]


async def test_a_result_carries_snapshots_of_files(tmp_path: Path) -> None:
    made = tmp_path / "sorted.txt"
    made.write_text("a\nb")
    async with covey.open("memory:", roots=[str(tmp_path)]) as space:
        a, b = await space.join("a"), await space.join("b")
        await delegate(a, "b")
        parts: list[Json] = [text("here"), {"type": "file", "path": str(made)}, {"type": "data", "data": {"lines": 2}}]
        answer = await use(b, "mailbox", "update_task", task=1, state="completed", parts=parts)
        assert not answer.is_error
        made.unlink()
        (task,) = fields(await use(a, "mailbox", "list_tasks", role="delegated", state="completed"))["tasks"]
        kinds = [part["type"] for part in task["result"]["parts"]]
        assert (kinds, task["result"]["parts"][2]["data"]) == (["text", "file", "data"], {"lines": 2})
        *_, result = await a.inbox.peek()
        assert await result.file(result.files[0]) == b"a\nb"


# ---------------------------------------------------------------------------------------------------- accepting


@pytest.mark.requirement("mailbox.task.accept")
async def test_a_sender_who_is_not_allowed_is_refused_with_that_reason(world: World) -> None:
    (a,) = await world.join("a")
    await world.process().join("b", card={"allow_from": ["c"]})
    answer = await use(a, "mailbox", "delegate_task", to="b", parts=[text("sort")])
    assert answer.is_error
    assert fields(answer)["delivery"] == "refused: not-allowed: b takes no mail from a (allow_from)"


@pytest.mark.requirement("mailbox.task.accept")
async def test_over_the_quota_the_card_says_reject_or_queue(world: World) -> None:
    (a,) = await world.join("a")
    strict = await world.process().join("strict", card={"quota": 1, "overflow": "reject"})
    patient = await world.process().join("patient", card={"quota": 1, "overflow": "queue"})
    for to in ("strict", "patient"):
        await delegate(a, to)
    over = await use(a, "mailbox", "delegate_task", to="strict", parts=[text("one more")])
    assert fields(over)["delivery"] == "refused: over-quota: strict has 1 of 1 tasks and queues none"
    await update(strict, 1, "accepted")
    second = (await delegate(a, "patient"))["id"]
    await update(patient, 1, "accepted")
    full = await update(patient, 2, "accepted")
    assert "patient has reached its quota of 1" in full.text
    assert "Finish one of your tasks first; this one waits." in full.text
    assert (await world.services.tasks.view(second)).task.state is TaskState.PENDING
    await update(patient, 1, "completed", "sorted")
    assert not (await update(patient, 2, "accepted")).is_error


@pytest.mark.requirement("mailbox.task.accept")
async def test_a_task_past_its_deadline_cannot_be_accepted(world: World) -> None:
    a, b = await world.join("a", "b")
    await delegate(a, "b", deadline=format_instant(world.clock.now() + timedelta(minutes=5)))
    world.pass_time(minutes=6)
    answer = await update(b, 1, "accepted")
    assert answer.is_error
    assert "failed" in answer.text
    await world.tend()
    assert await told(a) == [("failed", "Your task to b is failed: its deadline passed")]


@pytest.mark.requirement("mailbox.task.accept")
async def test_a_rejection_is_reported_with_its_reason(world: World) -> None:
    a, b = await world.join("a", "b")
    await delegate(a, "b", "paint a picture")
    assert "say why it is rejected" in (await update(b, 1, "rejected")).text
    await update(b, 1, "rejected", reason="I only sort.")
    assert await told(a) == [("rejected", "Your task to b is rejected: I only sort.")]
    assert await listed(a, role="delegated", state="rejected") == [("rejected", "paint a picture")]


@pytest.mark.requirement("mailbox.task.accept")
async def test_simultaneous_accepts_never_exceed_the_quota(world: World) -> None:
    (a,) = await world.join("a")
    sessions = [await world.process().join("b", card={"quota": 2}) for _ in range(3)]
    for n in range(6):
        await delegate(a, "b", f"task {n}")
    answers = await asyncio.gather(*(update(sessions[n % 3], n + 1, "accepted") for n in range(6)))
    assert sum(not answer.is_error for answer in answers) == 2
    assert len(await listed(sessions[0], state="accepted")) == 2


# --------------------------------------------------------------------------------------------------- list_tasks


async def test_tasks_are_listed_by_role_and_state(world: World) -> None:
    a, b = await world.join("a", "b")
    for words in ("first", "second", "third"):
        await delegate(a, "b", words)
    await update(b, 1, "completed", "done with it")
    await update(b, 2, "working")
    assert await listed(b) == await listed(b, role="mine") == [("working", "second"), ("pending", "third")]
    assert await listed(a) == []
    assert await listed(a, role="delegated") == [("working", "second"), ("pending", "third")]
    assert await listed(a, role="delegated", state="completed") == [("completed", "first")]
    assert await listed(b, state="pending") == [("pending", "third")]
    answer = await use(b, "mailbox", "list_tasks")
    working, pending = fields(answer)["tasks"]
    assert (working["number"], working["is_yours"], pending["number"], pending["is_yours"]) == (2, True, 3, False)
    assert json.loads(answer.text) == answer.data
    assert "use mine" in await refusal(b, "mailbox", "list_tasks", role="min")


async def test_a_long_list_is_cut_and_foreign_text_in_it_is_escaped(world: World) -> None:
    a, b = await world.join("a", "b")
    for n in range(4):
        await delegate(a, "b", f"{n} </covey-mail> " + "x" * 10_000, metadata={"</covey-mail>": ["</covey-mail>"]})
    answer = await use(b, "mailbox", "list_tasks")
    assert (len(fields(answer)["tasks"]), fields(answer)["left_out"]) == (2, 2)
    assert "</covey-mail>" not in answer.text


async def test_an_agent_lists_only_its_own_tasks(world: World) -> None:
    a, _, c = await world.join("a", "b", "c")
    await delegate(a, "b")
    for role in ("mine", "delegated"):
        assert await listed(c, role=role) == []
    assert await waiting(c) == []
