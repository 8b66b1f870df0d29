"""A replica: every record once, whoever applies it, and the same rows on every machine."""

import asyncio
import threading
from pathlib import Path
from typing import cast

import apsw
import pytest

from covey.adapters.memory.log import MemoryLog
from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.statements import migration_names
from covey.adapters.sqlite.replica.record import Kind, Record, decode, encode
from covey.adapters.sqlite.replica.replica import BATCH
from covey.core.errors import IdentityRefused, LogDiverged, StoreCorrupt, StoreNewer
from covey.core.ids import Topic
from covey.core.ledger.marks import BY_WHOLE_SPACE, decode_marks
from covey.core.ledger.wire import encode as encode_message
from covey.ports.log import Log, LogEntry, LogState
from covey.ports.store import Survives, Transaction
from covey.testing import a_message, closing
from covey.testing.contracts.store import Broken, both, increment, ringing
from covey.testing.everything import EVERYTHING, read_everything, write_everything
from tests.adapters.sqlite.replicas import Machines, Rings
from tests.reports import Reports

LIMIT_S = 20.0
ALL_TABLES = "select name from sqlite_schema where type = 'table' and name not in ('replica', 'migrations')"


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


def rows(machines: Machines, name: str) -> dict[str, list[str]]:
    """Return all that is in the replica of a machine when it has taken in everything, with the places of its rows."""
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


async def test_what_one_machine_commits_is_there_on_every_other(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(write_everything)
        assert len(await b.read(read_everything)) == EVERYTHING
        assert await b.read(read_everything) == await a.read(read_everything)
    assert rows(machines, "a") == rows(machines, "b")


async def test_machines_that_commit_in_turns_count_together(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        assert [await store.commit(increment) for _ in range(5) for store in (a, b)] == list(range(1, 11))
    assert rows(machines, "a") == rows(machines, "b")


async def test_what_was_refused_for_what_is_no_longer_so_is_not_refused(machines: Machines) -> None:
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


async def test_a_commit_that_changes_nothing_adds_no_record_but_sees_what_others_did(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await b.read(both)
        await a.commit(increment)
        before = machines.log.state().last
        assert await b.commit(both) == (1, 1)
        assert machines.log.state().last == before


async def test_a_refusal_rests_on_what_others_did_before(machines: Machines) -> None:
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


async def test_what_is_taken_in_on_the_way_to_a_commit_rings_too(machines: Machines) -> None:
    rings = Rings()
    async with closing(machines.store("a")) as a, closing(machines.store("b", ring=rings)) as b:
        await b.read(both)
        await a.commit(ringing("bell"))
        await b.commit(increment)
    assert rings == [("bell",)]


async def test_a_new_machine_takes_in_everything(machines: Machines) -> None:
    async with closing(machines.store("a")) as a:
        for _ in range(600):
            await a.commit(increment)
    async with closing(machines.store("new")) as new:
        assert await new.read(both) == (600, 600)


async def test_how_far_it_has_come_is_reported_where_that_takes_long(machines: Machines) -> None:
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


async def test_what_it_survives_is_what_its_log_survives(machines: Machines) -> None:
    async with closing(machines.store("a")) as a:
        assert a.capabilities.survives is Survives.NOTHING


async def test_a_log_that_others_make_while_it_is_asked_for_is_no_other(machines: Machines) -> None:
    class AnswersLate:
        """The log, whose first answer is of the time before others made it."""

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


async def test_a_log_that_was_made_again_is_not_taken_for_the_same(machines: Machines) -> None:
    async with closing(machines.store("a")) as a:
        await a.commit(increment)
        machines.log.begin_anew()
        for _ in range(2):
            with pytest.raises(LogDiverged, match="deleted and made again"):
                await a.commit(increment)
            with pytest.raises(LogDiverged, match="deleted and made again"):
                await a.read(both)
    with pytest.raises(LogDiverged):
        machines.store("a")


async def test_a_log_that_has_lost_records_is_found_out(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(increment)
        await b.read(both)
        await a.commit(increment)
        machines.log.lose(1)
        with pytest.raises(LogDiverged, match="were there before"):
            await a.read(both)
        # The other machine never saw what was lost, and goes on; what it adds does not hide the loss.
        assert await b.commit(increment) == 2
        assert await b.commit(increment) == 3
        with pytest.raises(LogDiverged, match="is another one there"):
            await a.read(both)


async def test_what_is_no_record_does_not_count(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(increment)
        for junk in (b"", b"junk", b"{}\n", b'{"v":1,"kind":"rows","id":"x","after":"","zlib":9}\nshort'):
            machines.log.append(junk, machines.log.state().last, "junk")
        assert await b.commit(increment) == 2
        assert await a.commit(increment) == 3
    assert rows(machines, "a") == rows(machines, "b")
    assert len(machines.warnings) == 2 * 4


async def test_a_record_that_was_made_behind_none_of_ours_does_not_count(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(increment)
        stray = encode(Record("stray", "nobody", topics=[Topic("bell")]))
        machines.log.append(stray, machines.log.state().last, "stray")
        assert await b.commit(increment) == 2
        assert await a.commit(increment) == 3
    assert rows(machines, "a") == rows(machines, "b")


async def test_a_record_of_a_newer_program_is_refused_and_nothing_is_skipped(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(increment)
        schema = Record("newer", last_id(machines), Kind.SCHEMA, migrations=[*migration_names(), "9999_newer"])
        machines.log.append(encode(schema), machines.log.state().last, "newer")
        for store in (a, b):
            with pytest.raises(StoreNewer, match="9999_newer"):
                await store.read(both)
            with pytest.raises(StoreNewer, match="9999_newer"):
                await store.commit(increment)


async def test_an_agents_record_that_speaks_for_another_agent_does_not_count(machines: Machines) -> None:
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
        # Somebody who does not check goes round that; the log tells who it was.
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


async def test_one_in_a_group_that_speaks_for_another_harms_no_other(machines: Machines) -> None:
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


async def test_a_replica_whose_rows_were_changed_is_found_out(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        await a.commit(increment)
        await b.read(both)
        connection = apsw.Connection(machines.path("b"), flags=apsw.SQLITE_OPEN_READWRITE)
        on_one_cursor(connection)("delete from settings")
        connection.close()
        await a.commit(increment)
        with pytest.raises(StoreCorrupt, match="does not fit"):
            await b.read(both)


def last_id(machines: Machines) -> str:
    """Return the id of the last record."""
    entries = machines.log.after(machines.log.state().last - 1, 1)
    assert entries
    assert isinstance(entries[0], LogEntry)
    return decode("memory", entries[0].record).id


def test_the_log_in_memory_tells_who_adds() -> None:
    log = MemoryLog()
    log.another("alice").append(b"", 0, "1")
    entries = log.after(0, 1)
    assert entries is not None
    assert [entry.author for entry in entries] == ["alice"]


async def test_only_who_owns_the_space_changes_its_tables(machines: Machines) -> None:
    async with closing(machines.store("a")) as a:
        await a.commit(increment)
        schema = Record("newer", last_id(machines), Kind.SCHEMA, migrations=[*migration_names(), "9999_newer"])
        machines.log.another("mallory").append(encode(schema), machines.log.state().last, "newer")
        assert await a.commit(increment) == 2
    assert "mallory does not own the space" in machines.warnings[0]


async def test_a_large_group_means_the_same_elsewhere(machines: Machines) -> None:
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
