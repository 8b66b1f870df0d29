"""The registry: our processes lose no entry of each other, and foreign entries stay."""

import json
import os
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from covey.adapters.folder.mailboxes import RegistryFile
from tests.adapters.children import child

BUSY = """
import sys
from covey.adapters.folder.mailboxes import RegistryFile
registry = RegistryFile(sys.argv[1])
print("ready")
sys.stdin.readline()
for n in range(int(sys.argv[3])):
    registry.put({f"{sys.argv[2]}-{n % 5}": {"count": n}})
print("done")
"""


def document(root: Path) -> dict[str, Any]:
    return json.loads((root / "_registry.json").read_bytes())


def test_foreign_entries_and_fields_stay(tmp_path: Path) -> None:
    theirs = {"coder": {"agent_id": "coder", "emoji": "🦜", "status": "idle"}, "odd": 7, "writer": {"x": [1, None]}}
    (tmp_path / "_registry.json").write_text(json.dumps(theirs))
    (tmp_path / "_registry.json").chmod(0o644)
    registry = RegistryFile(str(tmp_path))
    registry.put({"coder": {"status": "busy"}, "me": {"status": "idle"}})
    assert document(tmp_path) == {
        **theirs,
        "coder": {"agent_id": "coder", "emoji": "🦜", "status": "busy"},
        "me": {"status": "idle"},
    }
    assert set(registry.entries()) == {"coder", "writer", "me"}
    assert (tmp_path / "_registry.json").stat().st_mode & 0o777 == 0o644


def test_a_change_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    registry = RegistryFile(str(tmp_path))
    registry.put({"me": {"status": "idle"}})
    before = (tmp_path / "_registry.json").stat()
    registry.put({"me": {"status": "idle"}})
    after = (tmp_path / "_registry.json").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"null", b"\xff\xfe{}", b"[" * 100_000, b'{"a": ' + b"1" * 5000 + b"}", b'{"a": {}}{'],
    ids=["half", "list", "null", "no-text", "deep", "long-number", "more"],
)
def test_a_broken_registry_is_set_aside_and_never_fatal(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "_registry.json").write_bytes(content)
    registry = RegistryFile(str(tmp_path))
    assert registry.entries() == {}
    assert (tmp_path / "_registry.json").read_bytes() == content, "who only reads changes nothing"
    registry.put({"me": {"status": "idle"}})
    assert document(tmp_path) == {"me": {"status": "idle"}}
    (aside,) = tmp_path.glob("_registry.json.broken-*")
    assert aside.read_bytes() == content


def test_a_folder_or_a_pipe_in_place_of_the_registry_is_set_aside_too(tmp_path: Path) -> None:
    for make in (os.mkdir, os.mkfifo):
        make(tmp_path / "_registry.json")
        RegistryFile(str(tmp_path)).put({"me": {"status": "idle"}})
        assert document(tmp_path) == {"me": {"status": "idle"}}
        (tmp_path / "_registry.json").unlink()


def test_text_with_a_lone_surrogate_is_kept(tmp_path: Path) -> None:
    (tmp_path / "_registry.json").write_bytes(b'{"a": {"name": "\\ud800"}}')
    RegistryFile(str(tmp_path)).put({"me": {}})
    assert document(tmp_path) == {"a": {"name": "\ud800"}, "me": {}}


def test_a_change_is_retried_if_a_foreign_program_has_written_meanwhile(tmp_path: Path) -> None:
    registry = RegistryFile(str(tmp_path))
    registry.put({"me": {"n": 1}})
    calls = 0

    def change(entries: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        nonlocal calls
        calls += 1
        if calls == 1:  # between our read and our write
            (tmp_path / "theirs").write_text(json.dumps({**entries, "foreign": {"status": "idle"}}))
            (tmp_path / "theirs").rename(tmp_path / "_registry.json")
        return {"me": {"n": entries["me"]["n"] + 1}}

    registry.change(change)
    assert calls == 2
    assert document(tmp_path) == {"me": {"n": 2}, "foreign": {"status": "idle"}}


def test_changes_of_several_threads_exclude_each_other(tmp_path: Path) -> None:
    registry = RegistryFile(str(tmp_path))
    registry.put({"all": {"n": 0}})

    def count() -> None:
        for _ in range(10):
            registry.change(lambda entries: {"all": {"n": entries["all"]["n"] + 1}})

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert document(tmp_path) == {"all": {"n": 40}}


def test_four_processes_lose_no_entry_of_each_other(tmp_path: Path) -> None:
    with ExitStack() as stack:
        busy = [stack.enter_context(child(BUSY, str(tmp_path), f"p{n}", "50")) for n in range(4)]
        for one in busy:
            assert one.line() == "ready"
        for one in busy:
            one.say("go")
        for one in busy:
            assert one.line() == "done"
    assert document(tmp_path) == {f"p{n}-{k}": {"count": 45 + k} for n in range(4) for k in range(5)}
    assert sorted(path.name for path in tmp_path.iterdir()) == [".covey", "_registry.json"]
