"""Files and folders that are not a store, are damaged, or can't be written."""

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from covey.adapters.sqlite.care.integrity import integrity_check
from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.blank import make_blank
from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.errors import StoreCorrupt, Unavailable
from tests.adapters.children import ROOT
from tests.adapters.sqlite.stories import LIMIT_S, make_store, names_in

OPEN = """
import sys
from covey.core.errors import CoveyError
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.coroutine import finish
from tests.adapters.sqlite.stories import register
try:
    finish(SqliteStore(sys.argv[1]).commit(register("alice")))
except CoveyError as error:
    print(error.code)
"""

READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" -c "$3" "$4"'


def open_in_read_only(folder: Path, path: Path) -> str:
    """Return the code of the error in a process whose view of the folder is read-only, even for root."""
    command = ["unshare", "-rm", "sh", "-c", READ_ONLY, "sh", str(folder), sys.executable, OPEN, str(path)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if "unshare" in process.stderr or "mount:" in process.stderr:
        pytest.skip(f"a private mount can't be made: {process.stderr}")
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


@pytest.mark.parametrize("way", [SqliteStore, GroupCommit])
def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path, way: type[SqliteStore | GroupCommit]) -> None:
    path = tmp_path / "covey.db"
    path.write_text("These are my notes, please keep them. " * 200)
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt):
        way(path)
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    connection = apsw.Connection(str(path))
    on_one_cursor(connection)("create table birds (name text)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="another program"):
        SqliteStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("way", [SqliteStore, GroupCommit])
def test_an_empty_file_is_reported_as_empty_and_left_unchanged(
    tmp_path: Path, way: type[SqliteStore | GroupCommit]
) -> None:
    path = tmp_path / "covey.db"
    path.touch()
    with pytest.raises(StoreCorrupt, match="0 bytes") as caught:
        way(path)
    assert "covey init" in caught.value.message
    assert path.stat().st_size == 0


def test_a_new_store_is_never_an_empty_file(tmp_path: Path) -> None:
    make_blank(str(tmp_path / "covey.db"))
    assert (tmp_path / "covey.db").stat().st_size > 0
    assert [file.name for file in tmp_path.iterdir()] == ["covey.db"]
    assert names_in(tmp_path / "covey.db") == []


def test_a_file_that_was_created_meanwhile_is_left_unchanged(tmp_path: Path) -> None:
    make_store(tmp_path / "covey.db")
    make_blank(str(tmp_path / "covey.db"))
    assert names_in(tmp_path / "covey.db") == ["bob"]


def test_a_damaged_store_is_reported_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt):
        names_in(path)


def test_damage_to_the_first_page_is_found_at_once(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xa5" * 3996
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt):
        SqliteStore(path)


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreCorrupt, match="folder"):
        SqliteStore(tmp_path)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable):
        SqliteStore(tmp_path / "file" / "covey.db")


def test_an_intact_store_has_no_faults(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    assert integrity_check(path) == []


def test_a_read_only_folder_is_reported_as_read_only(tmp_path: Path) -> None:
    assert open_in_read_only(tmp_path, tmp_path / "covey.db") == "store-read-only"


def test_a_store_in_a_read_only_folder_is_reported_as_read_only(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    assert open_in_read_only(tmp_path, path) == "store-read-only"
    assert names_in(path) == ["bob"]
