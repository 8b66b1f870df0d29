"""Every statement uses an index: none scans a table that grows."""

import re
from collections.abc import Iterable

import apsw
import pytest

from covey.adapters.sqlite.engine.access import groups, on_one_cursor, statements
from tests.adapters.sqlite.stories import make_store

GROWING = ("messages", "deliveries", "journal", "tickets", "sessions", "offers", "tasks", "posts")

LISTINGS = {
    ("messages", "newest"),  # reads backwards from the end, and stops at the limit
    ("tasks", "newest"),
    ("tasks", "newest_open"),  # a scan of an index that contains only these rows
    ("tasks", "all_held"),
    ("tasks", "untold"),
    ("sessions", "current"),  # a scan of an index that contains only these rows
    ("views", "totals"),  # counts all rows
    ("store", "miscounted"),  # an integrity check reads all rows
    ("store", "recount"),
    ("messages", "to_check"),
    ("messages", "not_json"),
    ("messages", "misfiled"),
    ("salvage", "deliveries"),
    ("salvage", "tickets"),
    ("salvage", "tasks"),
    ("salvage", "posts"),
    ("salvage", "pairs"),
}

ELSEWHERE = {"search", "replica"}  # in a separate database; in a table of one row that only replicas have


def named() -> Iterable[tuple[str, str, str]]:
    for group in groups():
        if group not in ELSEWHERE:
            for name, statement in statements(group).items():
                if statement.partition(" ")[0] in ("select", "insert", "update", "delete", "with"):
                    yield group, name, statement


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    path = tmp_path_factory.mktemp("plans") / "covey.db"
    make_store(path)
    return apsw.Connection(str(path))


def plan(connection: apsw.Connection, statement: str) -> list[str]:
    """Return the steps of SQLite's query plan for the statement."""
    numbered = [int(number) for number in re.findall(r"\?(\d)", statement)]
    values = (None,) * (max(numbered) if numbered else statement.count("?"))
    return [row[3] for row in on_one_cursor(connection)(f"explain query plan {statement}", values)]


@pytest.mark.parametrize(("group", "name", "statement"), [pytest.param(*s, id=f"{s[0]}.{s[1]}") for s in named()])
def test_a_statement_uses_an_index(connection: apsw.Connection, group: str, name: str, statement: str) -> None:
    scans = [step for step in plan(connection, statement) if step.startswith("SCAN") and step.split()[1] in GROWING]
    assert not scans or (group, name) in LISTINGS


@pytest.mark.parametrize(("group", "name"), sorted(LISTINGS))
def test_every_statement_that_may_scan_exists(group: str, name: str) -> None:
    assert name in statements(group)


def test_the_current_sessions_have_a_separate_index(connection: apsw.Connection) -> None:
    steps = plan(connection, statements("sessions")["current"])
    assert steps[0] == "SCAN sessions USING INDEX sessions_by_agent"


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("waiting", "deliveries_waiting"),
        ("oldest", "deliveries_waiting"),
        ("unsettled_in", "deliveries_unsettled"),
        ("lapsed_leases", "deliveries_leased"),
        ("lapsed_dates", "deliveries_expiring"),
        ("alike", "deliveries_alike"),
        ("handled", "deliveries_handled"),
    ],
)
def test_pending_deliveries_are_found_in_an_index_of_pending_ones(
    connection: apsw.Connection, name: str, index: str
) -> None:
    steps = plan(connection, statements("deliveries")[name])
    assert any(index in step for step in steps), steps
    assert not any("TEMP B-TREE" in step for step in steps), steps


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("pending", "tasks_pending"),
        ("held", "tasks_held"),
        ("places", "tasks_held"),
        ("left", "tasks_left"),
        ("all_held", "tasks_held"),
        ("of_session", "tasks_of_session"),
        ("due", "tasks_due"),
        ("untold", "tasks_untold"),
        ("newest_open", "tasks_open"),
    ],
)
def test_unfinished_tasks_are_found_in_an_index_of_unfinished_ones(
    connection: apsw.Connection, name: str, index: str
) -> None:
    steps = plan(connection, statements("tasks")[name])
    assert [step for step in steps if index in step], steps
