"""`MailboxManager`: its documented methods, alone in a folder, with many processes and with other programs."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from covey.core.errors import Invalid, MessageTooLarge, RecipientUnknown
from covey.mailbox import MailboxManager
from tests.adapters.children import child
from tests.chaos.mailbox_kills import killed_again_and_again

FIELDS = {
    "agent_id",
    "description",
    "capabilities",
    "status",
    "allow_from",
    "max_concurrent_tasks",
    "current_tasks",
    "registered_at",
    "last_heartbeat",
}

BEAT = """
import sys
from covey.mailbox import MailboxManager
manager = MailboxManager(sys.argv[1])
print("ready")
sys.stdin.readline()
for n in range(6):
    manager.register(f"{sys.argv[2]}-{n}", {"description": f"number {n}", "capabilities": [sys.argv[2]]})
    for _ in range(4):
        manager.heartbeat(f"{sys.argv[2]}-{n}")
    manager.update_status(f"{sys.argv[2]}-{n}", "busy", [f"task-{n}"])
print("done")
"""


def note(text: str) -> dict[str, Any]:
    return {"type": "message", "content": {"parts": [{"type": "text", "text": text}]}}


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"]["parts"][0]["text"] for message in messages]


def registry(root: Path) -> dict[str, Any]:
    return json.loads((root / "_registry.json").read_bytes())


@pytest.fixture
def manager(tmp_path: Path) -> MailboxManager:
    return MailboxManager(tmp_path)


@pytest.mark.requirement("mailbox.manager")
def test_an_agent_registers_sends_heartbeats_and_is_found(manager: MailboxManager, tmp_path: Path) -> None:
    assert manager.list_online_agents() == []
    assert manager.get_agent("coder") is None
    manager.register(
        "coder", {"description": "负责代码编写", "capabilities": ["code_write"], "allow_from": ["researcher"]}
    )
    entry = registry(tmp_path)["coder"]
    assert set(entry) == FIELDS
    assert (entry["agent_id"], entry["status"], entry["max_concurrent_tasks"]) == ("coder", "idle", 3)
    assert manager.get_agent("coder") == entry
    assert manager.list_online_agents() == [entry]
    assert sorted(path.name for path in (tmp_path / "coder").iterdir()) == ["inbox", "processed"]

    manager.heartbeat("coder")
    beaten = registry(tmp_path)["coder"]
    assert datetime.fromisoformat(beaten["last_heartbeat"]) > datetime.fromisoformat(entry["last_heartbeat"])
    assert {**beaten, "last_heartbeat": ""} == {**entry, "last_heartbeat": ""}

    manager.update_status("coder", "busy", ["msg_1"])
    manager.update_status("coder", "busy")
    assert [registry(tmp_path)["coder"][field] for field in ("status", "current_tasks")] == ["busy", ["msg_1"]]
    manager.update_status("coder", "offline", [])
    assert manager.list_online_agents() == []
    found = manager.get_agent("coder")
    assert found is not None
    assert (found["status"], found["current_tasks"]) == ("offline", [])


@pytest.mark.requirement("mailbox.manager")
def test_a_message_is_sent_polled_and_processed(manager: MailboxManager, tmp_path: Path) -> None:
    given = note("write a parser")
    before = json.dumps(given)
    filename = manager.send("researcher", "coder", given)
    assert json.dumps(given) == before
    (message,) = manager.poll("coder")
    assert message["filename"] == filename
    assert filename.startswith(f"{message['id'].split('_')[1]}_researcher_")
    assert filename.endswith(".msg.json")
    on_disk = json.loads((tmp_path / "coder" / "inbox" / filename).read_bytes())
    assert {**on_disk, "filename": filename} == message
    expected = {"from": "researcher", "to": "coder", "type": "message", "ttl": 3, "trace": ["researcher"]}
    assert {field: message[field] for field in expected} == expected
    assert (message["reply_to"], message["metadata"], message["callback"], message["task"]) == (None, {}, {}, None)

    assert manager.mark_processed("coder", filename) is True
    assert manager.mark_processed("coder", filename) is False
    assert manager.poll("coder") == []
    assert json.loads((tmp_path / "coder" / "processed" / filename).read_bytes()) == on_disk


def test_a_task_has_a_state_and_given_fields_replace_defaults(manager: MailboxManager) -> None:
    manager.send("a", "b", {"type": "task", "ttl": 1, "trace": ["x", "a"], "from": "somebody else", "filename": "x"})
    manager.send("b", "a", {"type": "task_update", "task": {"id": "t", "state": "accepted"}, "id": "my-id", "extra": 1})
    (task,) = manager.poll("b")
    assert task["task"] == {"id": task["id"], "state": "pending", "deadline": None}
    assert (task["ttl"], task["trace"], task["from"]) == (1, ["x", "a"], "a")
    (update,) = manager.poll("a")
    assert (update["id"], update["task"], update["extra"]) == ("my-id", {"id": "t", "state": "accepted"}, 1)


@pytest.mark.requirement("mailbox.manager")
def test_all_messages_of_one_sender_in_one_second_are_kept_in_order(manager: MailboxManager) -> None:
    expected = [f"number {n}" for n in range(60)]
    names = {manager.send("researcher", "coder", note(text)) for text in expected}
    assert len(names) == 60
    assert texts(manager.poll("coder")) == expected


def test_messages_of_all_writers_are_ordered_by_time(manager: MailboxManager, tmp_path: Path) -> None:
    manager.register("coder", {})
    inbox = tmp_path / "coder" / "inbox"
    for name, timestamp in (
        ("1745659300_z.msg.json", "2026-04-26T10:00:00Z"),
        ("1745659200_a.msg.json", "2026-04-26T12:00:00+01:00"),
        ("1745659100_b.msg.json", "2026-04-26T11:30:00"),
    ):
        (inbox / name).write_text(json.dumps({"timestamp": timestamp, "from": "x"}))
    (inbox / "1_late.msg.json").write_text("{}")  # ordered by the time of its last change
    polled = [message["filename"][:10] for message in manager.poll("coder")]
    assert polled == ["1745659300", "1745659200", "1745659100", "1_late.msg"]


@pytest.mark.requirement("mailbox.manager")
def test_a_broken_file_is_skipped_and_reported(manager: MailboxManager, tmp_path: Path) -> None:
    manager.register("coder", {})
    inbox = tmp_path / "coder" / "inbox"
    (inbox / "1_half.msg.json").write_bytes(b'{"id": ')
    (inbox / "2_list.msg.json").write_bytes(b"[]")
    (inbox / "3_bytes.msg.json").write_bytes(b"\xff\xfe\x00")
    (inbox / "4_folder.msg.json").mkdir()
    (inbox / "5_link.msg.json").symlink_to("/etc/passwd")
    os.mkfifo(inbox / "6_pipe.msg.json")
    with (inbox / "7_huge.msg.json").open("wb") as huge:
        huge.truncate(64 * 1024 * 1024)
    (inbox / "8_deep.msg.json").write_bytes(b"[" * 100_000)
    (inbox / "notes.txt").write_text("not a message")
    (inbox / ".hidden.msg.json").write_text("{}")
    manager.send("researcher", "coder", note("hello"))
    assert texts(manager.poll("coder")) == ["hello"]
    assert manager.broken("coder") == [], "somebody may still be writing them"
    for path in inbox.glob("[0-9]_*"):
        os.utime(path, (1, 1), follow_symlinks=False)
    told = {broken.filename.partition("_")[0]: broken.problem for broken in manager.broken("coder")}
    assert sorted(told) == list("12345678")
    assert all(told.values())
    assert manager.process("coder", print) == 1
    assert len(list(inbox.iterdir())) == 10


@pytest.mark.requirement("mailbox.manager")
def test_a_message_is_processed_only_if_its_handler_succeeds(manager: MailboxManager) -> None:
    for text in ("one", "two", "three"):
        manager.send("researcher", "coder", note(text))
    seen: list[str] = []

    def fail_on_two(message: dict[str, Any]) -> None:
        seen.extend(texts([message]))
        message.clear()
        if seen[-1] == "two":
            raise ConnectionError("no model today")

    with pytest.raises(ExceptionGroup) as caught:
        manager.process("coder", fail_on_two)
    assert caught.group_contains(ConnectionError, match="no model today")
    assert seen == ["one", "two", "three"]
    assert texts(manager.poll("coder")) == ["two"]
    assert manager.process("coder", print) == 1
    assert manager.process("coder", print) == 0


def test_an_interrupted_handler_leaves_the_message_in_the_inbox(manager: MailboxManager) -> None:
    manager.send("researcher", "coder", note("one"))

    def interrupted(message: Mapping[str, Any]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        manager.process("coder", interrupted)
    assert texts(manager.poll("coder")) == ["one"]


def test_a_message_processed_meanwhile_is_not_handled_again(manager: MailboxManager) -> None:
    for text in ("one", "two"):
        manager.send("researcher", "coder", note(text))
    seen: list[str] = []

    def and_so_does_another(message: dict[str, Any]) -> None:
        seen.extend(texts([message]))
        manager.process("coder", lambda other: seen.extend(texts([other])) if texts([other]) == ["two"] else 1 / 0)

    with pytest.raises(ExceptionGroup):
        manager.process("coder", and_so_does_another)
    assert seen == ["one", "two"]


def test_a_reused_file_name_does_not_overwrite_a_processed_message(manager: MailboxManager, tmp_path: Path) -> None:
    manager.register("coder", {})
    for text in ("one", "two"):
        (tmp_path / "coder" / "inbox" / "1745659200_a.msg.json").write_text(json.dumps(note(text)))
        assert manager.mark_processed("coder", "1745659200_a.msg.json")
    processed = [json.loads(path.read_bytes()) for path in (tmp_path / "coder" / "processed").iterdir()]
    assert sorted(texts(processed)) == ["one", "two"]


BAD_NAMES = ["", ".", "..", "../coder", "/etc", "a/b", "a\\b", "_registry.json", ".covey", "a\0b", "a\nb", "x" * 300]


@pytest.mark.requirement("mailbox.manager")
@pytest.mark.parametrize("name", BAD_NAMES)
def test_an_unsafe_name_is_refused(manager: MailboxManager, tmp_path: Path, name: str) -> None:
    for call in (
        lambda: manager.register(name, {}),
        lambda: manager.heartbeat(name),
        lambda: manager.update_status(name, "idle"),
        lambda: manager.send(name, "coder", {}),
        lambda: manager.send("coder", name, {}),
        lambda: manager.poll(name),
        lambda: manager.broken(name),
        lambda: manager.mark_processed(name, "1_a.msg.json"),
        lambda: manager.mark_processed("coder", name),
        lambda: manager.mark_processed("coder", f"{name}/1_a.msg.json"),
        lambda: manager.get_agent(name),
    ):
        with pytest.raises(Invalid):
            call()
    assert list(tmp_path.iterdir()) == []


def test_wrong_values_are_refused_and_nothing_is_written(manager: MailboxManager, tmp_path: Path) -> None:
    for bad in ({"type": "gossip"}, {"metadata": {1, 2}}, {"ttl": float("nan")}, {"metadata": {"x": "\ud800"}}):
        with pytest.raises(Invalid):
            manager.send("a", "b", bad)
    with pytest.raises(MessageTooLarge):
        manager.send("a", "b", note("x" * 2_000_000))
    for card in ({"status": "asleep"}, {"description": object()}, {"capabilities": "code"}, {"allow_from": [7]}):
        with pytest.raises(Invalid):
            manager.register("a", card)
    with pytest.raises(RecipientUnknown):
        manager.heartbeat("nobody")
    with pytest.raises(RecipientUnknown):
        MailboxManager(tmp_path / "nowhere").update_status("nobody", "idle")
    with pytest.raises(Invalid):
        MailboxManager("")
    assert list(tmp_path.iterdir()) == []


def test_the_next_heartbeat_restores_a_removed_folder(manager: MailboxManager, tmp_path: Path) -> None:
    manager.register("coder", {"description": "writes code"})
    shutil.rmtree(tmp_path)
    manager.heartbeat("coder")
    assert registry(tmp_path)["coder"]["description"] == "writes code"
    assert manager.poll("coder") == []


def test_an_agent_without_recent_heartbeats_is_offline(tmp_path: Path) -> None:
    manager = MailboxManager(tmp_path, offline_after=timedelta(seconds=30))
    manager.register("coder", {})
    manager.register("writer", {})
    document = registry(tmp_path)
    document["coder"]["last_heartbeat"] = (datetime.now(UTC) - timedelta(seconds=31)).isoformat()
    document["writer"]["last_heartbeat"] = (datetime.now(UTC) - timedelta(seconds=10)).isoformat()
    document["odd"] = {"last_heartbeat": "yesterday", "status": 7}
    (tmp_path / "_registry.json").write_text(json.dumps(document))
    assert [entry["agent_id"] for entry in manager.list_online_agents()] == ["odd", "writer"]
    found = manager.get_agent("coder")
    assert found is not None
    assert found["status"] == "offline"
    assert registry(tmp_path)["coder"]["status"] == "idle"
    manager.heartbeat("coder")
    assert len(manager.list_online_agents()) == 3


@pytest.mark.requirement("mailbox.manager")
def test_the_next_heartbeat_restores_an_entry_that_another_program_overwrote(
    manager: MailboxManager, tmp_path: Path
) -> None:
    manager.register("coder", {"description": "writes code"})
    older = (tmp_path / "_registry.json").read_bytes()
    manager.update_status("coder", "busy", ["t"])
    (tmp_path / "_registry.json").write_bytes(older)  # an earlier version
    manager.heartbeat("coder")
    entry = registry(tmp_path)["coder"]
    assert (entry["status"], entry["current_tasks"]) == ("busy", ["t"])
    for content in (b"{}", b"", b'{"coder": {', b"null"):  # missing or broken entries
        (tmp_path / "_registry.json").write_bytes(content)
        manager.heartbeat("coder")
        entry = registry(tmp_path)["coder"]
        assert (entry["description"], entry["status"], entry["current_tasks"]) == ("writes code", "busy", ["t"])


def test_changes_by_another_process_of_the_agent_are_kept(manager: MailboxManager, tmp_path: Path) -> None:
    manager.register("coder", {"description": "writes code"})
    MailboxManager(tmp_path).update_status("coder", "busy", ["t"])
    manager.heartbeat("coder")
    assert registry(tmp_path)["coder"]["status"] == "busy"
    document = registry(tmp_path)
    document["coder"]["emoji"] = "🦜"
    (tmp_path / "_registry.json").write_text(json.dumps(document))
    manager.heartbeat("coder")
    assert registry(tmp_path)["coder"]["emoji"] == "🦜"


@pytest.mark.requirement("mailbox.manager")
def test_the_entries_of_eight_concurrent_processes_are_all_kept(tmp_path: Path) -> None:
    with ExitStack() as stack:
        processes = [stack.enter_context(child(BEAT, str(tmp_path), f"p{n}")) for n in range(8)]
        for one in processes:
            assert one.line() == "ready"
        for one in processes:
            one.say("go")
        for one in processes:
            assert one.line() == "done"
    found = {name: (entry["description"], entry["current_tasks"]) for name, entry in registry(tmp_path).items()}
    assert found == {f"p{n}-{k}": (f"number {k}", [f"task-{k}"]) for n in range(8) for k in range(6)}


@pytest.mark.requirement("mailbox.manager")
def test_the_manager_needs_no_event_loop_and_no_other_framework() -> None:
    program = "import sys, covey.mailbox; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    loaded = set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "covey" in loaded
    assert not loaded & {"asyncio", "nanobot", "pydantic", "apsw", "sqlite3", "socket", "rich"}


@pytest.mark.requirement("mailbox.manager")
def test_killed_writers_lose_no_message_and_leave_no_partial_one() -> None:
    killed_again_and_again(kills=25)
