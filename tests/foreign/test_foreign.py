"""Tests of the foreign programs: they work together as documented, and do not depend on Covey."""

import ast
from pathlib import Path
from typing import Any

import pytest

from tests.foreign.mailboxes import MailboxManager, message_of
from tests.foreign.running import LOOP, MAILBOX, asked, neighbour, until

PROGRAMS = ("loop", "loop_folder", "mailbox", "mailboxes", "onlooker")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_foreign_programs_import_nothing_of_covey(name: str) -> None:
    tree = ast.parse((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    own = {module for module in imported if module.startswith("tests.foreign.")}
    assert {module.partition(".")[2].partition(".")[2] for module in own} <= set(PROGRAMS)
    assert not [module for module in imported - own if module.partition(".")[0] in ("covey", "tests")]


def send(root: Path, *words: str) -> Any:
    return asked(LOOP, root, "send", "--phase", "T1", "--round", "1", *words)


def test_the_worked_trace_runs_between_two_loop_programs(tmp_path: Path) -> None:
    request = send(
        tmp_path, "--from", "critic", "--to", "fixer", "--kind", "request", "--subject", "style", "--body", "why?",
        "--expects-reply",
    )  # fmt: skip
    refused = asked(LOOP, tmp_path, "archive", request["id"])
    assert refused["error"]["code"] == "messages-archive-without-reply"
    assert asked(LOOP, tmp_path, "commit", "T1")["error"]["pending_subjects"] == ["style"]
    response = send(
        tmp_path,
        "--from",
        "fixer",
        "--to",
        "critic",
        "--kind",
        "response",
        "--body",
        "so",
        "--in-reply-to",
        request["id"],
    )
    assert asked(LOOP, tmp_path, "archive", request["id"]) == request
    assert asked(LOOP, tmp_path, "archive", request["id"])["error"]["code"] == "messages-already-archived"
    assert asked(LOOP, tmp_path, "thread", response["id"]) == [request, response]
    assert asked(LOOP, tmp_path, "inbox", "--agent", "critic", "--task", "T1") == [response]
    assert asked(LOOP, tmp_path, "commit", "T1") == {"messages_swept": 2}
    assert len(list((tmp_path / "archive" / "by-task" / "T1").iterdir())) == 2


def test_the_user_story_runs_between_two_mailbox_programs(tmp_path: Path) -> None:
    with neighbour(MAILBOX, tmp_path, "coder", "coder") as coder:
        with neighbour(MAILBOX, tmp_path, "researcher", "researcher", "coder", "写排序函数") as researcher:
            updates = researcher.line()
        assert '"accepted"' in updates
        seen = coder.answer()
    assert [message["type"] for message in seen] == ["task"]
    assert asked(MAILBOX, tmp_path, "agent", "coder")["status"] == "offline"


def test_a_mailbox_program_survives_a_withdrawn_message_but_not_the_loss_of_its_own(tmp_path: Path) -> None:
    manager = MailboxManager(tmp_path)
    for sender in ("coder", "writer"):
        manager.send(sender, "writer", message_of(sender, "writer", "message", "hello", 1), 1)
    withdrawn, own = (message["filename"] for message in manager.poll("writer"))
    for path in tmp_path.glob("writer/inbox/*"):
        path.unlink()
        path.symlink_to("nowhere")  # is listed, and is gone when it is read
    assert manager.mark_processed("writer", "2_coder.msg.json") is False
    with pytest.raises(FileNotFoundError):
        manager.mark_processed("writer", "2_writer.msg.json")
    with pytest.raises(FileNotFoundError, match=own):
        manager.poll("writer")
    (tmp_path / "writer" / "inbox" / own).unlink()
    assert manager.poll("writer") == []
    assert (tmp_path / "writer" / "inbox" / withdrawn).is_symlink()


@pytest.mark.parametrize(("program", "words"), [(LOOP, ["busy", "n"]), (MAILBOX, ["busy", "n"])])
def test_the_onlooker_sees_the_files_of_a_busy_program_and_a_partial_file(
    program: str, words: list[str], tmp_path: Path
) -> None:
    tmp_path.joinpath("archive").mkdir()
    with neighbour(program, tmp_path, *words) as busy, neighbour(program, tmp_path, "watch") as watcher:
        until(lambda: len(list(tmp_path.glob("**/*.json"))) > 20)
        busy.answer()
        half = tmp_path / ("archive/half.json" if program == LOOP else "n/inbox/half.msg.json")
        half.write_bytes(b'{"id": ')
        told = watcher.answer()
    assert told["seen"] > 5
    assert len(told["broken"]) >= 1
    assert all("half" in line for line in told["broken"])
