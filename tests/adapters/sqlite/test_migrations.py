"""Two versions of the schema: one process migrates once, and a newer store is left unchanged."""

from contextlib import ExitStack
from pathlib import Path
from shutil import copytree

import apsw
import pytest

from covey.adapters.sqlite.engine.access import MIGRATIONS_FOLDER, migration_names, on_one_cursor
from covey.adapters.sqlite.engine.connection import bring_up_to_date
from covey.core.errors import StoreNewer
from covey.core.store_url import APPLICATION_ID
from tests.adapters.children import child
from tests.adapters.sqlite.stories import make_store, names_in

PROCESSES = 6

OPEN = """
import sys
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.errors import CoveyError
print("ready")
sys.stdin.readline()
try:
    SqliteStore(sys.argv[1])
except CoveyError as error:
    print(error.code)
else:
    print("open")
"""

MIGRATE = """
import sys
import apsw
from covey.adapters.sqlite.engine.connection import bring_up_to_date
connection = apsw.Connection(sys.argv[1])
connection.set_busy_timeout(10_000)
print("ready")
sys.stdin.readline()
bring_up_to_date(connection, sys.argv[1], sys.argv[2])
print("done")
"""


def answers(program: str, *arguments: str) -> list[str]:
    """Run a program in several processes that continue at the same moment. Return the output of each."""
    with ExitStack() as stack:
        children = [stack.enter_context(child(program, *arguments)) for _ in range(PROCESSES)]
        assert [process.line() for process in children] == ["ready"] * PROCESSES
        for process in children:
            process.say("go")
        return [process.line() for process in children]


def applied(path: Path) -> list[str]:
    connection = apsw.Connection(str(path))
    try:
        return [name for (name,) in on_one_cursor(connection)("select name from migrations order by name")]
    finally:
        connection.close()


@pytest.fixture
def newer_folder(tmp_path: Path) -> Path:
    """The migrations, and an additional one that can't be applied twice."""
    folder = tmp_path / "migrations"
    copytree(MIGRATIONS_FOLDER, folder)
    (folder / "9999_more.sql").write_text("create table more (x integer); insert into more values (1);")
    return folder


@pytest.mark.requirement("operate.versions")
def test_several_processes_create_a_new_store_once(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    assert answers(OPEN, str(path)) == ["open"] * PROCESSES
    assert applied(path) == list(migration_names())


@pytest.mark.requirement("operate.versions")
def test_several_processes_migrate_an_older_store_once(tmp_path: Path, newer_folder: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    assert answers(MIGRATE, str(path), str(newer_folder)) == ["done"] * PROCESSES
    assert applied(path) == [*migration_names(), "9999_more"]
    connection = apsw.Connection(str(path))
    assert on_one_cursor(connection)("select count(*) from more").get == 1
    assert on_one_cursor(connection)("select name from agents").get == "bob"
    connection.close()


@pytest.mark.requirement("operate.versions")
def test_a_newer_store_is_refused_and_left_unchanged(tmp_path: Path, newer_folder: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    connection = apsw.Connection(str(path))
    bring_up_to_date(connection, str(path), str(newer_folder))
    connection.close()
    before = path.read_bytes()
    assert answers(OPEN, str(path)) == ["store-newer"] * PROCESSES
    assert path.read_bytes() == before


def test_the_refusal_names_the_unknown_migration(tmp_path: Path, newer_folder: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    connection = apsw.Connection(str(path))
    bring_up_to_date(connection, str(path), str(newer_folder))
    connection.close()
    with pytest.raises(StoreNewer, match="9999_more"):
        names_in(path)


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    folder = tmp_path / "migrations"
    copytree(MIGRATIONS_FOLDER, folder)
    (folder / "9999_broken.sql").write_text("create table more (x integer); select nothing from nowhere;")
    connection = apsw.Connection(str(path))
    with pytest.raises(apsw.SQLError):
        bring_up_to_date(connection, str(path), str(folder))
    connection.close()
    assert applied(path) == list(migration_names())
    assert names_in(path) == ["bob"]


def test_a_store_has_its_application_id(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    connection = apsw.Connection(str(path))
    assert on_one_cursor(connection)("pragma application_id").get == APPLICATION_ID
    connection.close()
