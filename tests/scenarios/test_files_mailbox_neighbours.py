"""Foreign programs in a mailbox folder: the messages and agents that they see, and the data that returns to them
unchanged."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import covey
from covey.core.directory.card import Presence, TaskOverflow
from covey.core.ledger.message import DataPart, FilePart
from covey.core.work.task import TaskState
from tests.foreign.mailboxes import MailboxManager, card_of, message_of
from tests.scenarios.world import LIMIT_S, soon

AT = 1745659200
DEEP_CALLBACK = {"session_id": "feishu:user_123", "channel": "feishu", "chat": {"id": 7, "tags": ["a"]}, "lang": "zh"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "mailboxes"


@pytest.fixture
def url(root: Path) -> str:
    return f"files:{root}?layout=mailbox"


@pytest.fixture
def theirs(root: Path) -> MailboxManager:
    manager = MailboxManager(root)
    manager.register("researcher", card_of("researcher"))
    return manager


def hand_over(manager: MailboxManager, to: str = "coder", at: int = AT, **fields: Any) -> str:
    """Let the foreign researcher delegate a task. Return the id of the task."""
    task = {"id": f"msg_{at}_researcher", "state": "pending", "deadline": fields.pop("deadline", None)}
    message = message_of("researcher", to, "task", "sort this", at, task=task, **fields)
    manager.send("researcher", to, message, at)
    return message["id"]


async def updates(space: covey.Space, manager: MailboxManager) -> list[dict[str, Any]]:
    await space.agents()  # a read takes in the new files
    return [message for message in manager.poll("researcher") if message["type"] == "task_update"]


# ----------------------------------------------------------------------------------------------------- refusals


@pytest.mark.requirement("trust.foreign.tasks")
async def test_a_foreign_sender_is_notified_that_its_task_is_refused(url: str, theirs: MailboxManager) -> None:
    async with covey.open(url) as space:
        await space.join("coder", card={"allow_from": ["lead"]})
        task = hand_over(theirs, callback=DEEP_CALLBACK)
        (update,) = await updates(space, theirs)
    assert (update["task"]["id"], update["task"]["state"]) == (task, "rejected")
    assert update["reply_to"] == task
    assert update["callback"] == DEEP_CALLBACK
    assert "takes no mail from researcher" in update["content"]["parts"][0]["text"]


async def test_a_foreign_sender_is_notified_that_the_quota_refuses_its_task(url: str, theirs: MailboxManager) -> None:
    async with covey.open(url) as space:
        await space.join("coder", card={"quota": 1, "overflow": TaskOverflow.REJECT})
        hand_over(theirs)
        await space.agents()
        second = hand_over(theirs, at=AT + 1)
        (update,) = await updates(space, theirs)
    assert (update["task"]["id"], update["task"]["state"]) == (second, "rejected")
    assert "1 of 1 tasks" in update["content"]["parts"][0]["text"]


@pytest.mark.parametrize("kind", ["task", "message"])
async def test_if_enabled_unauthorized_foreign_senders_are_notified_under_their_own_id(
    url: str, theirs: MailboxManager, kind: str
) -> None:
    async with covey.open(url) as space:
        coder = await space.join("coder", card={"allow_from": ["lead"]})
        await space.services.policies.tell_unauthorized(coder.identity)
        if kind == "task":
            sent = hand_over(theirs)
        else:
            message = message_of("researcher", "coder", "message", "hello", AT)
            theirs.send("researcher", "coder", message, AT)
            sent = message["id"]
        (update,) = await updates(space, theirs)
    assert (update["task"]["id"], update["task"]["state"], update["reply_to"]) == (sent, "rejected", sent)


async def test_a_task_past_its_deadline_does_not_count_towards_the_quota(url: str, theirs: MailboxManager) -> None:
    past = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    async with covey.open(url) as space:
        coder = await space.join("coder", card={"quota": 1, "overflow": TaskOverflow.REJECT})
        hand_over(theirs, deadline=past)
        await space.agents()
        hand_over(theirs, at=AT + 1)
        task = await soon(coder.take(timeout=LIMIT_S))
    assert task is not None
    assert task.text == "sort this"


# ------------------------------------------------------------------------------------------ the registry


@pytest.mark.requirement("trust.foreign.tasks")
async def test_the_presence_of_foreign_agents_follows_their_entries(url: str, theirs: MailboxManager) -> None:
    theirs.register("writer", {**card_of("writer"), "status": "busy"})
    theirs.register("away", {**card_of("away"), "status": "offline"})
    silent = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    theirs.register("silent", {**card_of("silent"), "last_heartbeat": silent})
    async with covey.open(url) as space:
        seen = {str(view.name): view.presence for view in await space.agents()}
        assert seen["researcher"] is Presence.IDLE
        assert seen["writer"] is Presence.BUSY
        assert (seen["away"], seen["silent"]) == (Presence.OFFLINE, Presence.OFFLINE)
        theirs.update_status("writer", "offline")
        seen = {str(view.name): view.presence for view in await space.agents()}
        assert seen["writer"] is Presence.OFFLINE
        assert json.loads((theirs.registry).read_text())["writer"]["status"] == "offline", "their entry is theirs"
        assert await space.services.audit.check() == []


async def test_a_broadcast_reaches_foreign_agents_too(url: str, theirs: MailboxManager) -> None:
    async with covey.open(url) as space:
        coder = await space.join("coder")
        receipt = await coder.send("*", "hello, all")
        assert [delivery.agent for delivery in receipt.delivered] == ["researcher"]
        (message,) = theirs.poll("researcher")
    assert message["content"]["parts"] == [{"type": "text", "text": "hello, all"}]


async def test_an_agent_that_joins_under_a_foreign_name_gets_its_mail(url: str, theirs: MailboxManager) -> None:
    async with covey.open(url) as space:
        coder = await space.join("coder")
        await coder.send("researcher", "first")
        researcher = await space.join("researcher")
        await coder.send("researcher", "second")
        assert [item.text for item in await researcher.inbox.peek()] == ["first", "second"]


# ----------------------------------------------------------------------- callbacks, file names and files


async def test_a_callback_comes_back_with_all_its_fields(url: str, theirs: MailboxManager) -> None:
    async with covey.open(url) as space:
        coder = await space.join("coder")
        hand_over(theirs, callback=DEEP_CALLBACK)
        task = await soon(coder.take(timeout=LIMIT_S))
        assert task is not None
        await task.start()
        await task.complete("done")
        told = await updates(space, theirs)
    assert [update["callback"] for update in told] == [DEEP_CALLBACK] * 3
    assert told[-1]["task"]["state"] == TaskState.COMPLETED


async def test_files_sort_by_name_in_the_order_of_sending(root: Path, url: str) -> None:
    async with covey.open(url) as space:
        senders = [await space.join(name) for name in ("zoe", "bob", "ann")]
        await space.join("coder")
        for number in range(30):
            await senders[number % 3].send("coder", f"number {number}")
        names = sorted(path.name for path in (root / "coder" / "inbox").iterdir())
        texts = [json.loads((root / "coder" / "inbox" / name).read_text())["content"]["parts"][0] for name in names]
    assert [part["text"] for part in texts] == [f"number {number}" for number in range(30)]
    assert [name.split("_")[1] for name in names[:3]] == ["zoe", "bob", "ann"]
    assert all(name.split("_")[0].isdigit() for name in names)


async def test_a_file_from_covey_is_a_snapshot_that_foreign_programs_can_open(
    tmp_path: Path, url: str, theirs: MailboxManager
) -> None:
    report = tmp_path / "report.md"
    report.write_text("as it was")
    async with covey.open(url, roots=[str(tmp_path)]) as space:
        coder = await space.join("coder")
        part = await coder.attach(str(report))
        report.write_text("changed since")
        await coder.send("researcher", "see the report", files=[part])
        (message,) = theirs.poll("researcher")
    _, file = message["content"]["parts"]
    path = Path(file["path"])
    assert (file["type"], path.name, path.read_text()) == ("file", "report.md", "as it was")


async def test_a_foreign_file_is_kept_as_a_snapshot(tmp_path: Path, url: str, theirs: MailboxManager) -> None:
    data = theirs.root / "researcher" / "data.csv"
    data.write_text("1,2")
    outside = tmp_path / "outside.txt"
    outside.write_text("not yours")
    parts = [
        {"type": "text", "text": "see"},
        {"type": "file", "path": str(data)},
        {"type": "file", "path": str(outside)},
        {"type": "file", "path": str(theirs.root / ".covey" / "covey.db")},
        {"type": "file", "path": "data.csv"},
    ]
    async with covey.open(url, roots=[]) as space:
        coder = await space.join("coder")
        message = {**message_of("researcher", "coder", "message", "see", AT), "content": {"parts": parts}}
        theirs.send("researcher", "coder", message, AT)
        delivery = await soon(coder.inbox.next(timeout=LIMIT_S))
        assert delivery is not None
        data.write_text("changed since")
        (kept,) = [part for part in delivery.message.parts if isinstance(part, FilePart)]
        assert await space.services.attachments.content(kept) == b"1,2"
        told = [part.data for part in delivery.message.parts if isinstance(part, DataPart)]
    assert [fields["path"] for fields in told if isinstance(fields, dict)] == [part["path"] for part in parts[2:]]
