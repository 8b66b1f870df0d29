"""Tasks between the space and foreign programs with mailboxes."""

from pathlib import Path
from typing import Any

import pytest

from covey.core.formats.layout import Layout
from covey.core.identity import Identity
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName
from covey.core.work.task import Task, TaskState
from covey.ports.work import TaskFilter
from tests.services.shared_folder import Shared, note, opened

ALICE, CODER = AgentName("alice"), AgentName("coder")


async def only_task(shared: Shared) -> Task:
    (task,) = await shared.store.read(lambda tx: tx.tasks.find(TaskFilter(), 10))
    return task


def update(n: int, task: dict[str, Any], state: str, text: str, **fields: Any) -> dict[str, Any]:
    return note(
        n,
        task["to"],
        task["from"],
        text,
        type="task_update",
        task={**task["task"], "state": state},
        reply_to=task["id"],
        **fields,
    )


def tell(shared: Shared, n: int, content: dict[str, Any]) -> None:
    shared.drop(f"{content['to']}/inbox/{1745659200 + n}_{content['from']}.msg.json", content)


@pytest.mark.parametrize(
    "told",
    [
        ["accepted", "working", "completed"],
        ["accepted", "working", "working", "completed"],
        ["accepted", "completed"],
        ["completed"],
    ],
)
async def test_the_updates_of_a_foreign_worker_move_the_task(tmp_path: Path, told: list[str]) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        await shared.send("alice", "coder", "sort it", kind=Kind.TASK)
        handed = shared.read("coder/inbox/*.msg.json")
        assert (handed["type"], handed["task"]["state"]) == ("task", "pending")
        shared.move("coder/inbox/*.msg.json", "coder/processed")
        for n, state in enumerate(told):
            tell(shared, n, update(n, handed, state, f"it is {state}"))
            assert (await only_task(shared)).state == state
        task = await only_task(shared)
        assert task.result is not None
        assert (await shared.services.mail.message(task.result)).text == "it is completed"
        assert await shared.faults() == []


@pytest.mark.parametrize(("state", "expected"), [("failed", TaskState.FAILED), ("rejected", TaskState.REJECTED)])
async def test_a_foreign_worker_can_fail_or_reject_a_task(tmp_path: Path, state: str, expected: TaskState) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        await shared.send("alice", "coder", "sort it", kind=Kind.TASK)
        tell(shared, 1, update(1, shared.read("coder/inbox/*.msg.json"), state, "too much to do"))
        task = await only_task(shared)
        assert (task.state, task.reason) == (expected, "too much to do")
        assert await shared.faults() == []


async def test_an_update_that_its_sender_may_not_give_is_delivered_and_moves_no_task(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        await shared.send("alice", "coder", "sort it", kind=Kind.TASK)
        handed = shared.read("coder/inbox/*.msg.json")
        tell(shared, 1, {**update(1, handed, "completed", "I did it"), "from": "mallory"})
        assert (await only_task(shared)).state is TaskState.PENDING
        assert "I did it" in await shared.inbox("alice")
        tell(shared, 2, update(2, handed, "completed", "done"))
        tell(shared, 3, update(3, handed, "working", "still at it"))
        assert (await only_task(shared)).state is TaskState.COMPLETED
        assert "still at it" in await shared.inbox("alice")
        assert await shared.faults() == []


async def test_updates_for_a_foreign_task_carry_its_own_id(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        handed = note(
            1,
            "researcher",
            "alice",
            "sort it",
            type="task",
            task={"id": "task-7", "state": "pending", "deadline": None},
            callback={"session_id": "feishu:user_123", "channel": "feishu"},
        )
        tell(shared, 1, handed)
        task = await only_task(shared)
        assert (task.delegator, task.agent, task.state) == ("researcher", "alice", TaskState.PENDING)
        duties = shared.services.duties
        await duties.accept(task.id, Identity(ALICE))
        await duties.start(task.id, Identity(ALICE))
        await duties.complete(task.id, Identity(ALICE), (TextPart("sorted"),))
        updates = [shared.read(path) for path in shared.paths() if path.startswith("researcher/inbox/")]
        told = {one["task"]["state"]: one for one in updates}
        assert set(told) == {"accepted", "working", "completed"}
        last = told["completed"]
        assert (last["type"], last["task"]["id"], last["reply_to"]) == ("task_update", "task-7", handed["id"])
        assert last["content"]["parts"] == [{"type": "text", "text": "sorted"}]
        assert last["callback"] == handed["callback"]
        assert [path for path in shared.paths() if path.startswith("alice/")] == [
            "alice/processed/1745659201_researcher.msg.json"
        ]
        assert await shared.faults() == []
