"""Files that only their owner can access."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.adapters.sqlite.search.search import SqliteSearch
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.coroutine import finish
from tests.adapters.sqlite.stories import register


@pytest.fixture(autouse=True)
def lax_umask() -> Generator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {entry.name: entry.stat().st_mode & 0o777 for entry in folder.iterdir()}


def test_every_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "space" / "covey.db"
    store = SqliteStore(path)
    search = SqliteSearch(path)
    finish(store.commit(register("bob")))
    finish(search.find("bob", 1))
    found = modes(path.parent)
    assert set(found) >= {"covey.db", "covey.db-wal", "covey.db-shm", "covey.db-turn", "covey.db-search"}
    assert set(found.values()) == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    finish(search.close())
    finish(store.close())


def test_an_existing_folder_keeps_its_mode(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    folder.mkdir(mode=0o755)
    finish(SqliteStore(folder / "covey.db").close())
    assert folder.stat().st_mode & 0o777 == 0o755


def test_the_default_folder_excludes_itself_from_git(tmp_path: Path) -> None:
    finish(SqliteStore(tmp_path / ".covey" / "covey.db").close())
    finish(SqliteStore(tmp_path / "other" / "covey.db").close())
    assert (tmp_path / ".covey" / ".gitignore").read_text() == "*\n"
    assert not (tmp_path / "other" / ".gitignore").exists()
