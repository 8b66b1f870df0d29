"""Two programs of different schema versions on one store, as real processes."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import apsw
import pytest

from covey.adapters.sqlite.care.integrity import integrity_check
from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.surfaces.cli.exits import DONE, UNAVAILABLE
from tests.adapters.children import child
from tests.surfaces.commands import Folder
from tests.surfaces.versions import NAME, install_newer

OLD = """
import asyncio, sys
import covey

async def main():
    space = covey.open(sys.argv[1])
    await space.__aenter__()
    me = await space.join("coder")
    print("joined")
    for line in sys.stdin:
        how, _, text = line.strip().partition(" ")
        try:
            if how == "send":
                await me.send("critic", text)
            elif how == "look":
                await space.agents()
            elif how == "search":
                await space.search(text)
        except covey.CoveyError as error:
            print(error.code)
        else:
            print("done")

asyncio.run(main())
"""

PROCESSES = 6


@pytest.fixture
def newer(tmp_path: Path) -> str:
    return install_newer(tmp_path / "newer")


def rows(path: Path, statement: str) -> list[object]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [value for (value,) in on_one_cursor(connection)(statement)]
    finally:
        connection.close()


@pytest.mark.requirement("operate.versions")
def test_one_of_many_newer_programs_that_start_together_migrates(folder: Folder, newer: str) -> None:
    assert folder.covey("send", "hello", "--from", "a", "--to", "b", "--register").code == DONE
    environment = {**folder.environment, "PYTHONPATH": newer}
    command = [sys.executable, "-m", "covey", "inbox", "b", "--json"]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(command, cwd=folder.path, env=environment, stdout=subprocess.PIPE, text=True)
            )
            for _ in range(PROCESSES)
        ]
        for process in processes:
            out, _ = process.communicate(timeout=30)
            assert process.returncode == DONE
            assert "hello" in out
    store = folder.path / ".covey/covey.db"
    assert rows(store, "select name from migrations order by name")[-1] == NAME
    assert rows(store, "select x from newer") == [1]
    assert not integrity_check_of_newer(store)


def integrity_check_of_newer(store: Path) -> list[object]:
    return [line for line in rows(store, "pragma integrity_check") if line != "ok"]


@pytest.mark.requirement("operate.versions")
def test_an_old_program_with_the_store_open_is_refused_after_a_migration(folder: Folder, newer: str) -> None:
    store = folder.path / ".covey/covey.db"
    assert folder.covey("send", "hi", "--from", "coder", "--to", "critic", "--register").code == DONE
    with child(OLD, f"sqlite:{store}") as old:
        assert old.line() == "joined"
        for step in ("send before", "look", "search before"):
            old.say(step)
            assert old.line() == "done"
        # The newer program migrates the store before the read.
        inbox = folder.covey("inbox", "critic", "--json", PYTHONPATH=newer)
        assert [item["text"] for item in inbox.json] == ["hi", "before"]
        events = rows(store, "select count(*) from journal")
        for step in ("send after", "look", "search before", "send again", "look"):
            old.say(step)
            assert old.line() == "store-newer"
        assert rows(store, "select count(*) from journal") == events
        # The newer program goes on working, and no message is lost.
        sent = folder.covey("send", "new", "--from", "coder", "--to", "critic", PYTHONPATH=newer)
        assert sent.code == DONE
        old.say("send late")
        assert old.line() == "store-newer"
    inbox = folder.covey("inbox", "critic", "--json", PYTHONPATH=newer)
    assert [item["text"] for item in inbox.json] == ["hi", "before", "new"]
    assert not integrity_check_of_newer(store)
    refused = folder.covey("inbox", "critic", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (UNAVAILABLE, "store-newer")


def test_an_old_program_refuses_a_newer_space_and_a_newer_program_restores_an_old_backup(
    folder: Folder, newer: str
) -> None:
    assert folder.covey("send", "hi", "--from", "coder", "--to", "critic", "--register").code == DONE
    assert folder.covey("backup", "old.tar").code == DONE
    assert folder.covey("agents", PYTHONPATH=newer).code == DONE
    assert folder.covey("backup", "new.tar").code == UNAVAILABLE
    assert folder.covey("backup", "new.tar", PYTHONPATH=newer).code == DONE
    there = ("--to", "sqlite:r/covey.db", "--agent", "ops")
    refused = folder.covey("restore", "new.tar", *there, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (UNAVAILABLE, "store-newer")
    assert folder.covey("restore", "old.tar", *there, PYTHONPATH=newer).code == DONE
    assert NAME in rows(folder.path / "r/covey.db", "select name from migrations")


def test_a_backup_leaves_an_older_store_as_it_is(folder: Folder, newer: str) -> None:
    assert folder.covey("send", "hi", "--from", "coder", "--to", "critic", "--register").code == DONE
    before = (folder.path / ".covey/covey.db").read_bytes()
    assert folder.covey("backup", "old.tar", PYTHONPATH=newer).code == DONE
    assert (folder.path / ".covey/covey.db").read_bytes() == before
    assert not integrity_check(folder.path / ".covey/covey.db")
