"""The user story of mailboxes over one folder, between a foreign program and Covey, each in a real process."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import covey
from covey.core.names import AgentName
from covey.core.work.task import TaskState
from covey.mailbox import MailboxManager
from tests.foreign.mailboxes import text_of
from tests.foreign.running import MAILBOX, asked, neighbour, until
from tests.scenarios.world import LIMIT_S, soon
from tests.scenarios.writing import write_five_hundred

WISH = "帮我写排序函数"
CALLBACK = {"session_id": "feishu:user_123", "channel": "feishu"}
FIELDS = [
    *("agent_id", "description", "capabilities", "status", "allow_from"),
    *("max_concurrent_tasks", "current_tasks", "registered_at", "last_heartbeat"),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "mailboxes"


@pytest.fixture
def url(root: Path) -> str:
    return f"files:{root}?layout=mailbox"


def registry(root: Path) -> dict[str, Any]:
    return json.loads((root / "_registry.json").read_bytes())


@pytest.mark.requirement("mailbox.layout")
async def test_covey_delegates_a_task_to_a_foreign_coder_and_gets_its_result(root: Path, url: str) -> None:
    with neighbour(MAILBOX, root, "coder", "coder") as coder:
        async with covey.open(url) as space:
            researcher = await space.join("researcher")
            assert "coder" in [view.name for view in await space.agents()]
            task = await researcher.delegate("coder", WISH, callback=("feishu", "feishu:user_123"))
            result = await soon(task.result(timeout=LIMIT_S))
            assert result is not None
            assert (task.state, result.text) == (TaskState.COMPLETED, f"done: {WISH}")
            assert result.callback is not None
            assert (result.callback.session_id, result.callback.channel) == ("feishu:user_123", "feishu")
            states = [event.details.get("to") async for event in task.watch() if event.action == "task.moved"]
            assert states == ["accepted", "working", "completed"]
            assert await space.services.audit.check() == []
        (seen,) = coder.answer()
    assert (seen["type"], seen["from"], seen["to"]) == ("task", "researcher", "coder")
    assert seen["callback"] == CALLBACK
    assert (seen["task"]["id"], seen["task"]["state"]) == (task.id, "pending")
    assert seen["filename"].split("_")[1] == "researcher"
    assert (root / "coder" / "processed" / seen["filename"]).exists()


@pytest.mark.requirement("mailbox.layout")
async def test_a_foreign_researcher_delegates_a_task_to_covey_and_gets_its_result(root: Path, url: str) -> None:
    async with covey.open(url) as space:
        coder = await space.join("coder")
        with neighbour(MAILBOX, root, "researcher", "researcher", "coder", WISH) as researcher:
            task = await soon(coder.take(timeout=LIMIT_S))
            assert task is not None
            assert (task.text, task.delegator) == (WISH, "researcher")
            await task.start()
            await task.complete("排序函数已完成")
            updates = json.loads(researcher.line())
    assert [update["task"]["state"] for update in updates] == ["accepted", "working", "completed"]
    assert len({update["task"]["id"] for update in updates}) == 1
    assert updates[0]["task"]["id"].startswith("msg_")
    assert [part["text"] for part in updates[-1]["content"]["parts"]] == ["排序函数已完成"]
    assert [update["callback"] for update in updates] == [CALLBACK] * 3
    assert {update["from"] for update in updates} == {"coder"}


@pytest.mark.requirement("mailbox.layout")
async def test_a_task_that_a_foreign_coder_refuses_is_rejected_in_the_space(root: Path, url: str) -> None:
    with neighbour(MAILBOX, root, "coder", "coder", "not my field"):
        async with covey.open(url) as space:
            researcher = await space.join("researcher")
            task = await researcher.delegate("coder", WISH)
            await soon(task.result(timeout=LIMIT_S))
            assert (task.state, task.reason) == (TaskState.REJECTED, "not my field")


@pytest.mark.requirement("mailbox.layout")
async def test_foreign_entries_of_the_registry_become_agents_and_agents_of_the_space_are_in_it(
    root: Path, url: str
) -> None:
    asked(MAILBOX, root, "register", "writer")
    async with covey.open(url) as space:
        await space.join("coder", card=covey.Card(description="负责代码编写", capabilities=("code_write",)))
        assert {view.name for view in await space.agents()} >= {"coder", "writer"}
        entry = registry(root)["coder"]
        assert [field for field in entry if field != "covey"] == FIELDS
        assert (entry["agent_id"], entry["description"], entry["status"]) == ("coder", "负责代码编写", "idle")
        assert asked(MAILBOX, root, "agent", "coder") == entry
        assert {card["agent_id"] for card in asked(MAILBOX, root, "agents")} == {"coder", "writer"}
    assert [card["agent_id"] for card in asked(MAILBOX, root, "agents")] == ["writer"]


@pytest.mark.requirement("mailbox.layout")
async def test_entries_that_a_foreign_program_overwrites_are_restored_at_the_next_heartbeat(
    root: Path, url: str
) -> None:
    async with covey.open(url) as space:
        coder = await space.join("coder")
        asked(MAILBOX, root, "register", "writer")
        theirs = {name: entry for name, entry in registry(root).items() if name == "writer"}
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(coder.inbox.next(timeout=LIMIT_S))
            (root / "new").write_text(json.dumps(theirs))
            (root / "new").rename(root / "_registry.json")
            await asyncio.to_thread(until, lambda: "coder" in registry(root))
            assert registry(root)["writer"] == theirs["writer"]
            asked(MAILBOX, root, "send", "writer", "coder", "hello")
            delivery = await waiting
        assert delivery is not None
        assert delivery.text == "hello"


@pytest.mark.requirement("mailbox.layout")
async def test_mail_goes_both_ways_and_a_processed_file_is_handled(root: Path, url: str) -> None:
    async with covey.open(url) as space:
        coder = await space.join("coder")
        asked(MAILBOX, root, "register", "writer")
        asked(MAILBOX, root, "send", "writer", "coder", "你好")
        delivery = await soon(coder.inbox.next(timeout=LIMIT_S))
        assert delivery is not None
        assert (delivery.text, delivery.sender.agent) == ("你好", "writer")
        await delivery.handle()
        assert list((root / "coder" / "inbox").iterdir()) == []
        assert len(list((root / "coder" / "processed").iterdir())) == 1
        receipt = await delivery.reply("and you")
        (message,) = asked(MAILBOX, root, "poll", "writer")
        assert message["content"]["parts"] == [{"type": "text", "text": "and you"}]
        assert message["reply_to"].startswith("msg_")
        asked(MAILBOX, root, "processed", "writer", message["filename"])
        (copy,) = (await receipt.refresh()).deliveries
        assert copy.state == "handled"
        assert await space.services.audit.check() == []


@pytest.mark.requirement("mailbox.layout")
async def test_a_fast_foreign_program_gets_each_message_once(root: Path, url: str) -> None:
    with neighbour(MAILBOX, root, "coder", "coder") as coder:
        async with covey.open(url) as space:
            researcher = await space.join("researcher")
            for number in range(100):
                await researcher.send("coder", f"number {number}")
            until(lambda: list((root / "coder" / "inbox").iterdir()) == [])
            waiting: Sequence[object] = [None]
            for _ in range(100):  # changes of other programs may become visible a moment later
                if not (waiting := await space.services.inbox.peek(AgentName("coder"))):
                    break
                await asyncio.sleep(0.02)
            assert waiting == []
        seen = coder.answer()
    assert [text_of(message) for message in seen] == [f"number {number}" for number in range(100)]


@pytest.mark.requirement("mailbox.layout")
async def test_coveys_mailbox_manager_and_a_space_share_a_folder(root: Path, url: str) -> None:
    manager = MailboxManager(root)
    manager.register("researcher", {"description": "finds things out"})
    async with covey.open(url) as space:
        coder = await space.join("coder")
        manager.send("researcher", "coder", {"content": {"parts": [{"type": "text", "text": "hello"}]}})
        delivery = await soon(coder.inbox.next(timeout=LIMIT_S))
        assert delivery is not None
        await delivery.reply("yes?")
        assert manager.process("researcher", lambda message: None) == 1
        assert [agent["agent_id"] for agent in manager.list_online_agents()] == ["coder", "researcher"]


@pytest.mark.requirement("mailbox.atomic")
async def test_a_foreign_reader_never_sees_a_partial_file_while_covey_writes_five_hundred(root: Path, url: str) -> None:
    root.mkdir()
    with neighbour(MAILBOX, root, "watch") as onlooker:
        async with covey.open(url) as space:
            researcher, coder = await space.join("researcher"), await space.join("coder")
            await write_five_hundred(researcher, coder)
        told = onlooker.answer()
    assert told["broken"] == []
    assert told["seen"] == 501, "and the registry"
