"""A replica: every record is applied once, by any process, and every machine has the same rows."""

import asyncio
import threading
from pathlib import Path
from typing import cast

import apsw
import pytest

from covey.adapters.memory.log import MemoryLog
from covey.adapters.sqlite.engine.access import migration_names, on_one_cursor
from covey.adapters.sqlite.replica.record import LogRecord, LogRecordKind, decode, encode
from covey.adapters.sqlite.replica.replica import BATCH
from covey.core.errors import IdentityRefused, LogDiverged, StoreCorrupt, StoreNewer
from covey.core.ledger.marks import BY_WHOLE_SPACE, decode_marks
from covey.core.ledger.wire import encode as encode_message
from covey.core.names import Topic
from covey.ports.log import Log, LogEntry, LogState
from covey.ports.store import Survives, Transaction
from covey.testing import a_message, closing
from covey.testing.contracts.store import Broken, both, increment, ringing
from covey.testing.contracts.tables import EVERYTHING, read_everything, write_everything
from tests.adapters.sqlite.replicas import Machines, Rings
from tests.reports import Reports

LIMIT_S = 20.0
ALL_TABLES = "select name from sqlite_schema where type = 'table' and name not in ('replica', 'migrations')"


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


def rows(machines: Machines, name: str) -> dict[str, list[str]]:
    """Return all rows of a machine's up-to-date replica, with their rowids."""
    machines.replica(name).close()
    connection = apsw.Connection(machines.path(name), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        tables = [str(table) for (table,) in on_one_cursor(connection)(ALL_TABLES)]
        return {
            table: sorted(map(repr, on_one_cursor(connection)(f"select {places(connection, table)}* from {table}")))
            for table in tables
        }
    finally:
        connection.close()


def places(connection: apsw.Connection, table: str) -> str:
    has_places = "without rowid" not in str(
        on_one_cursor(connection)("select sql from sqlite_schema where name = ?", (table,)).get
    )
    return "rowid, " if has_places else ""


async def send(transaction: Transaction, sender: str, number: int = 1) -> None:
    message = a_message(number, sender=sender)
    await transaction.messages.add(message, encode_message(message))


async def test_a_commit_on_one_machine_is_visible_on_every_other(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(write_everything)
        assert len(await b.read(read_everything)) == EVERYTHING
        assert await b.read(read_everything) == await a.read(read_everything)
    assert rows(machines, "a") == rows(machines, "b")


async def test_machines_that_commit_alternately_count_together(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        assert [await store.commit(increment) for _ in range(5) for store in (a, b)] == list(range(1, 11))
    assert rows(machines, "a") == rows(machines, "b")


async def test_an_operation_is_not_refused_for_a_state_that_another_machine_has_changed(machines: Machines) -> None:
    async def follow_up(transaction: Transaction) -> None:
        if await transaction.messages.get(a_message(1).id) is None:
            raise Broken
        await send(transaction, "bob", 2)

    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        with pytest.raises(Broken):
            await b.commit(follow_up)
        await a.commit(lambda transaction: send(transaction, "ann", 1))
        await b.commit(follow_up)


async def test_a_group_of_commits_is_one_record(machines: Machines) -> None:
    async with closing(machines.staying("a")) as a:
        await a.commit(increment)
        before = machines.log.state().last
        assert sorted(await asyncio.gather(*(a.commit(increment) for _ in range(64)))) == list(range(2, 66))
        assert machines.log.state().last == before + 1


async def test_a_commit_without_changes_adds_no_record_but_sees_records_of_other_machines(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await b.read(both)
        await a.commit(increment)
        before = machines.log.state().last
        assert await b.commit(both) == (1, 1)
        assert machines.log.state().last == before


async def test_a_refusal_is_based_on_earlier_records_of_other_machines(machines: Machines) -> None:
    async def refuse_unless_one(transaction: Transaction) -> None:
        found = await both(transaction)
        raise Broken(str(found))

    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await b.read(both)
        await a.commit(increment)
        with pytest.raises(Broken, match=r"\(1, 1\)"):
            await b.commit(refuse_unless_one)


async def test_a_record_rings_on_the_other_machine(machines: Machines) -> None:
    rung = threading.Event()
    heard: list[Topic] = []

    def ring(topics: object) -> None:
        heard.extend(topics)  # pyright: ignore[reportArgumentType] # topics they are
        rung.set()

    async with closing(machines.store("a")) as a, closing(machines.staying("b", ring)) as b:
        await b.read(both)
        await a.commit(ringing("bell"))
        assert await asyncio.to_thread(rung.wait, LIMIT_S)
    assert heard == ["bell"]


async def test_records_applied_before_a_commit_ring_too(machines: Machines) -> None:
    rings = Rings()
    async with closing(machines.store("a")) as a, closing(machines.store("b", ring=rings)) as b:
        await b.read(both)
        await a.commit(ringing("bell"))
        await b.commit(increment)
    assert rings == [("bell",)]


async def test_a_new_machine_applies_all_records(machines: Machines) -> None:
    async with closing(machines.store("a")) as a:
        for _ in range(600):
            await a.commit(increment)
    async with closing(machines.store("new")) as new:
        assert await new.read(both) == (600, 600)


async def test_progress_is_reported_while_a_replica_catches_up(machines: Machines) -> None:
    reported = Reports()
    async with closing(machines.store("a")) as a:
        for _ in range(600):
            await a.commit(increment)
    state = machines.log.state()
    assert state is not None
    last = state.last
    machines.replica("new", report=reported).close()
    what = "fetching records"
    assert reported == [(what, BATCH, last), (what, 2 * BATCH, last), (what, 2 * BATCH, 2 * BATCH)]
    machines.replica("new", report=reported).close()
    assert len(reported) == 3


async def test_a_replica_declares_the_durability_of_its_log(machines: Machines) -> None:
    async with closing(machines.store("a")) as a:
        assert a.capabilities.survives is Survives.NOTHING


async def test_a_log_that_another_machine_creates_meanwhile_is_accepted(machines: Machines) -> None:
    class AnswersLate:
        """A log whose first answer dates from before another machine created it."""

        def __init__(self, log: Log) -> None:
            self._log = log
            self._is_late = True

        def state(self, at_least: int = 0) -> LogState | None:
            if self._is_late:
                self._is_late = False
                machines.replica("a").close()
                return None
            return self._log.state(at_least)

        def __getattr__(self, name: str) -> object:
            return getattr(self._log, name)

    late = cast(Log, AnswersLate(machines.log.another()))
    async with closing(machines.store("a", late)) as store:
        assert await store.commit(increment) == 1


async def test_a_log_that_was_deleted_and_created_again_is_refused(machines: Machines) -> None:
    async with closing(machines.store("a")) as a:
        await a.commit(increment)
        machines.log.begin_anew()
        for _ in range(2):
            with pytest.raises(LogDiverged, match="deleted and created again"):
                await a.commit(increment)
            with pytest.raises(LogDiverged, match="deleted and created again"):
                await a.read(both)
    with pytest.raises(LogDiverged):
        machines.store("a")


async def test_a_log_that_has_lost_records_is_detected(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(increment)
        await b.read(both)
        await a.commit(increment)
        machines.log.lose(1)
        with pytest.raises(LogDiverged, match="had records up to"):
            await a.read(both)
        # The other machine never saw the lost record and continues. Its new records do not hide the loss.
        assert await b.commit(increment) == 2
        assert await b.commit(increment) == 3
        with pytest.raises(LogDiverged, match="is a different one"):
            await a.read(both)


async def test_an_invalid_record_is_ignored(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(increment)
        for junk in (b"", b"junk", b"{}\n", b'{"v":1,"kind":"rows","id":"x","after":"","zlib":9}\nshort'):
            machines.log.append(junk, machines.log.state().last, "junk")
        assert await b.commit(increment) == 2
        assert await a.commit(increment) == 3
    assert rows(machines, "a") == rows(machines, "b")
    assert len(machines.warnings) == 2 * 4


async def test_a_record_with_an_unknown_predecessor_is_ignored(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(increment)
        stray = encode(LogRecord("stray", "nobody", topics=[Topic("bell")]))
        machines.log.append(stray, machines.log.state().last, "stray")
        assert await b.commit(increment) == 2
        assert await a.commit(increment) == 3
    assert rows(machines, "a") == rows(machines, "b")


async def test_a_record_of_a_newer_program_is_refused_and_nothing_is_skipped(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(increment)
        schema = LogRecord(
            "newer", last_id(machines), LogRecordKind.SCHEMA, migrations=[*migration_names(), "9999_newer"]
        )
        machines.log.append(encode(schema), machines.log.state().last, "newer")
        for store in (a, b):
            with pytest.raises(StoreNewer, match="9999_newer"):
                await store.read(both)
            with pytest.raises(StoreNewer, match="9999_newer"):
                await store.commit(increment)


async def test_a_record_in_which_an_agent_acts_as_another_agent_is_ignored(machines: Machines) -> None:
    machines.replica("owner").close()
    honest, forger = machines.log.another("alice"), machines.log.another()
    async with closing(machines.store("a", honest)) as a, closing(machines.store("b")) as b:
        await a.commit(lambda tx: send(tx, "alice", 1))
        await a.commit(lambda tx: send(tx, "covey", 2))
        with pytest.raises(IdentityRefused, match="alice sent a message as bob"):
            await a.commit(lambda tx: send(tx, "bob", 3))
        for name in BY_WHOLE_SPACE:
            forged = a_message(5, sender="alice")._replace(marks=decode_marks({name: "lead"}))
            with pytest.raises(IdentityRefused, match="only a program for the whole space sets"):
                await a.commit(lambda tx, forged=forged: tx.messages.add(forged, encode_message(forged)))
        # A program without this check can append such a record. The log names the author.
        async with closing(machines.store("c", forger)) as c:
            before = machines.log.state().last
            await c.commit(lambda tx: send(tx, "bob", 4))
            machines.log.attribute(before + 1, "mallory")
        assert await b.read(lambda tx: tx.messages.get(a_message(1).id)) is not None
        assert await b.read(lambda tx: tx.messages.get(a_message(2).id)) is not None
        assert await b.read(lambda tx: tx.messages.get(a_message(4).id)) is None
        assert await b.commit(increment) == 1
        assert await a.commit(increment) == 2
    assert rows(machines, "a") == rows(machines, "b")
    assert any("mallory sent a message as bob" in warning for warning in machines.warnings)


async def test_a_commit_that_acts_as_another_agent_does_not_affect_others_in_its_group(machines: Machines) -> None:
    machines.replica("owner").close()
    alice = machines.log.another("alice")
    async with closing(machines.staying("a")) as a:
        a._open_replica = lambda: machines.replica("a", alice)  # pyright: ignore[reportPrivateUsage] # with other credentials
        await a.read(both)
        outcomes = await asyncio.gather(
            a.commit(increment), a.commit(lambda tx: send(tx, "bob")), a.commit(increment), return_exceptions=True
        )
    assert outcomes[0] == 1
    assert isinstance(outcomes[1], IdentityRefused)
    assert outcomes[2] == 2


async def test_a_replica_with_changed_rows_is_detected(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(increment)
        await b.read(both)
        connection = apsw.Connection(machines.path("b"), flags=apsw.SQLITE_OPEN_READWRITE)
        on_one_cursor(connection)("delete from settings")
        connection.close()
        await a.commit(increment)
        with pytest.raises(StoreCorrupt, match="does not match this replica"):
            await b.read(both)


def last_id(machines: Machines) -> str:
    """Return the id of the last record."""
    entries = machines.log.after(machines.log.state().last - 1, 1)
    assert entries
    assert isinstance(entries[0], LogEntry)
    return decode("memory", entries[0].record).id


def test_the_log_in_memory_names_the_author_of_a_record() -> None:
    log = MemoryLog()
    log.another("alice").append(b"", 0, "1")
    entries = log.after(0, 1)
    assert entries is not None
    assert [entry.author for entry in entries] == ["alice"]


async def test_only_the_owner_of_the_space_changes_its_tables(machines: Machines) -> None:
    async with closing(machines.store("a")) as a:
        await a.commit(increment)
        schema = LogRecord(
            "newer", last_id(machines), LogRecordKind.SCHEMA, migrations=[*migration_names(), "9999_newer"]
        )
        machines.log.another("mallory").append(encode(schema), machines.log.state().last, "newer")
        assert await a.commit(increment) == 2
    assert "mallory does not own the space" in machines.warnings[0]


async def test_a_large_group_has_the_same_result_on_another_machine(machines: Machines) -> None:
    async with closing(machines.staying("a")) as a, closing(machines.store("b")) as b:
        await a.commit(write_everything)
        for count in (1, 64, 2, 30):
            before = await b.read(both)
            outcomes = await asyncio.gather(*(a.commit(increment) for _ in range(count)))
            assert max(outcomes) == before[0] + count
            assert await b.read(both) == (before[0] + count, before[0] + count)
        outcomes = await asyncio.gather(
            *(a.commit(increment) for _ in range(9)), a.commit(increment_and_fail), return_exceptions=True
        )
        assert isinstance(outcomes[-1], Broken)
        assert await b.commit(increment) == 97 + 10
    assert rows(machines, "a") == rows(machines, "b")


async def increment_and_fail(transaction: Transaction) -> None:
    await increment(transaction)
    raise Broken
