"""Contracts of a log and its snapshots: one order, no gaps, and no append by a writer that has not seen all records."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue

import pytest

from covey.ports.log import Log, LogEntry, LogSnapshots, LogState
from covey.testing.factories import OpenLog, OpenLogSnapshots

LIMIT_S = 20.0
LARGE = 3 * 1024 * 1024


def state(log: Log) -> LogState:
    """Return the state of a log that exists."""
    found = log.state()
    assert found is not None
    return found


def everything(log: Log) -> list[LogEntry]:
    """Return all entries, in pages as a replica reads them."""
    found: list[LogEntry] = []
    while len(found) < state(log).last:
        more = log.after(len(found), 100)
        assert more is not None
        found += more
    return found


def made(open_log: OpenLog, stack: ExitStack) -> Log:
    """Open a log, and make it if it does not exist."""
    log = stack.enter_context(closing(open_log()))
    log.make()
    return log


class LogContract:
    """Fixture: `open_log`."""

    def test_a_new_log_has_no_records(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            log = made(open_log, stack)
            assert state(log).last == 0
            assert log.after(0, 10) == []

    def test_a_log_that_is_there_is_not_made_again(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            log = made(open_log, stack)
            assert log.append(b"one", 0, "1") == 1
            before = state(log)
            made(open_log, stack)
            assert state(log) == before

    def test_records_are_counted_from_1_and_come_back_in_their_order(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            log = made(open_log, stack)
            assert [log.append(f"{n}".encode(), n, f"id{n}") for n in range(5)] == [1, 2, 3, 4, 5]
            assert [(entry.position, entry.record) for entry in everything(log)] == [
                (n + 1, f"{n}".encode()) for n in range(5)
            ]
            assert state(log).last == 5

    def test_a_part_of_the_records_follows_a_position(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            log = made(open_log, stack)
            for n in range(5):
                log.append(f"{n}".encode(), n, f"id{n}")
            some = log.after(2, 2)
            assert some is not None
            assert [entry.position for entry in some] in ([3], [3, 4])
            assert log.after(5, 10) == []

    def test_nothing_is_added_behind_another_than_the_last_record(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            log = made(open_log, stack)
            log.append(b"one", 0, "1")
            assert log.append(b"late", 0, "2") is None
            assert log.append(b"early", 2, "3") is None
            assert [entry.record for entry in everything(log)] == [b"one"]

    def test_a_record_with_the_same_id_is_not_added_twice(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            log = made(open_log, stack)
            log.append(b"one", 0, "1")
            log.append(b"one", 0, "1")
            assert len(everything(log)) == 1

    def test_of_those_who_add_behind_the_same_record_one_wins(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            made(open_log, stack)
            logs = [stack.enter_context(closing(open_log())) for _ in range(4)]
            with ThreadPoolExecutor(4) as pool:
                for n in range(5):
                    tries = [pool.submit(log.append, b"", n, f"{n}.{i}") for i, log in enumerate(logs)]
                    won = [done.result(LIMIT_S) for done in tries]
                    assert [position for position in won if position is not None] == [n + 1]
            assert state(logs[0]).last == 5

    def test_what_is_offered_is_added_alike_and_what_comes_of_it_is_told(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            one, other = made(open_log, stack), stack.enter_context(closing(open_log()))
            told: SimpleQueue[int | BaseException | None] = SimpleQueue()
            large = bytes(range(256)) * (LARGE // 256)
            for n, record in enumerate((b"0", b"1", large, b"3")):
                one.begin_append(record, n, f"id{n}", told.put)
                assert told.get(timeout=LIMIT_S) == n + 1
            assert other.append(b"4", 4, "id4") == 5
            for position in (0, 4, 6):
                one.begin_append(b"late", position, f"late{position}", told.put)
                assert told.get(timeout=LIMIT_S) is None
            one.begin_append(b"5", 5, "id5", told.put)
            assert told.get(timeout=LIMIT_S) == 6
            assert [entry.record for entry in everything(other)] == [b"0", b"1", large, b"3", b"4", b"5"]

    def test_what_others_have_added_is_there_at_once(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            one, other = made(open_log, stack), stack.enter_context(closing(open_log()))
            for n in range(10):
                assert one.append(b"", n, f"{n}") == n + 1
                assert state(other).last == n + 1
            assert everything(one) == everything(other)

    def test_who_listens_hears_of_what_is_added(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            one, other = made(open_log, stack), stack.enter_context(closing(open_log()))
            heard: SimpleQueue[LogEntry | None] = SimpleQueue()
            stop = other.listen(heard.put)
            for n in range(3):
                one.append(f"{n}".encode(), n, f"{n}")
            assert [heard.get(timeout=LIMIT_S) for _ in range(3)] == everything(one)
            stop()

    def test_who_has_stopped_listening_hears_nothing(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            one, other = made(open_log, stack), stack.enter_context(closing(open_log()))
            heard: SimpleQueue[LogEntry | None] = SimpleQueue()
            other.listen(heard.put)()
            still: SimpleQueue[LogEntry | None] = SimpleQueue()
            other.listen(still.put)
            one.append(b"", 0, "0")
            still.get(timeout=LIMIT_S)
            assert heard.empty()

    def test_a_large_record_is_as_good_as_a_small_one(self, open_log: OpenLog) -> None:
        with ExitStack() as stack:
            one, other = made(open_log, stack), stack.enter_context(closing(open_log()))
            large = bytes(range(256)) * (LARGE // 256)
            assert one.append(large, 0, "0") == 1
            assert one.append(b"small", 1, "1") == 2
            assert [entry.record for entry in everything(other)] == [large, b"small"]

    def test_closing_again_does_nothing(self, open_log: OpenLog) -> None:
        log = open_log()
        log.make()
        log.close()
        log.close()


class LogSnapshotsContract:
    """Fixtures: `open_log`, and `open_snapshots` of the same log."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return tmp_path / "file"

    def test_a_new_log_has_no_snapshot(self, open_log: OpenLog, open_snapshots: OpenLogSnapshots) -> None:
        with ExitStack() as stack:
            made(open_log, stack)
            assert open_snapshots().newest() is None

    def test_what_was_kept_comes_back(
        self, open_log: OpenLog, open_snapshots: OpenLogSnapshots, file: Path, tmp_path: Path
    ) -> None:
        with ExitStack() as stack:
            log = made(open_log, stack)
            snapshots = open_snapshots()
            content = bytes(range(256)) * (LARGE // 256)
            log.append(b"", 0, "0")
            kept(snapshots, file, content, 1)
            newest = open_snapshots().newest()
            assert newest is not None
            assert newest.position == 1
            snapshots.fetch(newest, str(tmp_path / "back"))
            assert (tmp_path / "back").read_bytes() == content

    def test_an_older_snapshot_does_not_take_the_place_of_a_newer_one(
        self, open_log: OpenLog, open_snapshots: OpenLogSnapshots, file: Path
    ) -> None:
        with ExitStack() as stack:
            log = made(open_log, stack)
            for n in range(5):
                log.append(b"", n, f"{n}")
            kept(open_snapshots(), file, b"new", 4)
            kept(open_snapshots(), file, b"old", 3)
            newest = open_snapshots().newest()
            assert newest is not None
            assert newest.position == 4

    def test_records_are_let_go_behind_the_last_but_one_snapshot(
        self, open_log: OpenLog, open_snapshots: OpenLogSnapshots, file: Path
    ) -> None:
        with ExitStack() as stack:
            log = made(open_log, stack)
            for n in range(9):
                log.append(f"{n + 1}".encode(), n, f"{n}")
            kept(open_snapshots(), file, b"3", 3)
            assert len(everything(log)) == 9
            kept(open_snapshots(), file, b"6", 6)
            assert log.after(0, 10) is None
            assert log.after(2, 10) is None
            rest = log.after(3, 10)
            assert rest is not None
            assert [entry.record for entry in rest] == [b"4", b"5", b"6", b"7", b"8", b"9"]
            assert (state(log).first, state(log).last) == (4, 9)
            assert log.append(b"10", 9, "new") == 10


def kept(snapshots: LogSnapshots, file: Path, content: bytes, position: int) -> None:
    """Store `content` as the snapshot at a position."""
    file.write_bytes(content)
    snapshots.keep(str(file), position)
