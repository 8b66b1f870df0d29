"""Checkups of the store file and of the search index.

The store file is checked for presence, origin, integrity, version, write access and counts, and the index for
integrity, origin, completeness and lag. The checkup opens files that no other module opens: a store of a newer version,
a damaged store, a read-only store.
"""

import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from glob import escape, glob
from itertools import count
from typing import Final

import apsw

from covey.adapters.sqlite.care.integrity import damage, damaged_rows, miscounted, open_read_only
from covey.adapters.sqlite.care.restore import STAGING
from covey.adapters.sqlite.engine.access import Execute, migration_names, on_one_cursor, statements
from covey.adapters.sqlite.engine.connection import absolute, connect, missing_migrations
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S, explain, is_empty, raise_explained, remove
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.records.pruning import packed
from covey.adapters.sqlite.search.index import VERSION, delete_index
from covey.adapters.sqlite.search.search import SqliteSearch
from covey.core.care.diagnoses import (
    RECORDS_DAMAGED,
    SEARCH_DAMAGED,
    SEARCH_LAGGING,
    STORE_DAMAGED,
    STORE_EMPTY,
    STORE_FOREIGN,
    STORE_INDEX_DAMAGED,
    STORE_MISCOUNTED,
    STORE_MISSING,
    STORE_NEWER,
    STORE_OUTDATED,
    STORE_READ_ONLY,
    STORE_UNREADABLE,
    UNFINISHED_RESTORE,
)
from covey.core.care.finding import Area, Diagnosis, Examination, Finding
from covey.core.errors import CoveyError, Invalid, StoreCorrupt, StoreNewer
from covey.core.identity import Identity
from covey.core.names import parse_message_id
from covey.core.reporting import counted
from covey.ports.care import ProgressCallback

STEPS: Final = 100_000
"""Steps of SQLite between two progress reports."""

LEFTOVER_AGE_S: Final = 3600.0

_SQL = statements("store")
_IN_AN_INDEX: Final = re.compile(r"row \d+ missing from index|wrong # of entries in index|non-unique entry in index")


class StoreCheckup:
    area = Area.STORE

    def __init__(self, path: str) -> None:
        self._path = absolute(path)

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        findings = [*self._findings(thorough, tell)]
        if left := self._left_by_restore():
            findings.append(Finding(UNFINISHED_RESTORE, "a restore was not finished", tuple(left)))
        return self._found(findings)

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        found = {finding.diagnosis for finding in findings}
        if UNFINISHED_RESTORE in found:
            for path in self._left_by_restore():
                remove(path)
        if found != {UNFINISHED_RESTORE}:
            self._mend_database(found)

    def _mend_database(self, found: Collection[Diagnosis]) -> None:
        connection = connect(self._path, "full")  # which also runs missing migrations
        try:
            if STORE_INDEX_DAMAGED in found:
                self._run(connection, "reindex")
            if STORE_MISCOUNTED in found:
                self._run(connection, "uncount", "recount")
        finally:
            connection.close()

    def _findings(self, thorough: bool, tell: ProgressCallback) -> Sequence[Finding]:
        try:
            is_folder = stat.S_ISDIR(os.lstat(self._path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return [Finding(STORE_MISSING, f"there is no {self._path}")]
        except OSError as error:
            return [Finding(STORE_UNREADABLE, f"{self._path}: {error.strerror}")]
        if is_folder:
            return [Finding(STORE_FOREIGN, f"{self._path} is a folder")]
        if os.path.isfile(self._path) and is_empty(self._path):
            return [Finding(STORE_EMPTY, f"{self._path} has 0 bytes")]
        try:
            connection = open_read_only(self._path)
        except (apsw.Error, OSError) as error:
            return [self._unopened(error)]
        try:
            connection.set_progress_handler(_beats(tell), STEPS)
            return list(self._look(connection, thorough))
        finally:
            connection.close()

    def _look(self, connection: apsw.Connection, thorough: bool) -> Iterator[Finding]:
        try:
            version = list(self._version(connection))
            yield from version
            if any(finding.diagnosis is STORE_FOREIGN for finding in version):
                return
            yield from self._integrity(connection, thorough, is_current=not version)
        except (apsw.Error, UnicodeDecodeError) as error:
            yield self._unopened(error)
        if not os.access(self._path, os.W_OK) or not os.access(os.path.dirname(self._path), os.W_OK):
            yield Finding(STORE_READ_ONLY, f"{self._path} or its folder can't be written")

    def _version(self, connection: apsw.Connection) -> Iterator[Finding]:
        try:
            todo = missing_migrations(connection, self._path, migration_names())
        except StoreNewer as newer:
            yield Finding(STORE_NEWER, newer.message)
        except StoreCorrupt as foreign:
            yield Finding(STORE_FOREIGN, foreign.message)
        else:
            if todo:
                yield Finding(STORE_OUTDATED, f"{self._path} has not gone through: {', '.join(todo)}")

    def _integrity(self, connection: apsw.Connection, thorough: bool, *, is_current: bool) -> Iterator[Finding]:
        lines = damage(connection, quick=not thorough)
        in_indexes = [line for line in lines if _IN_AN_INDEX.search(line)]
        if len(in_indexes) < len(lines):
            yield Finding(STORE_DAMAGED, f"{self._path} is damaged: {counted(len(lines), 'fault')}", tuple(lines))
        elif lines:
            yield Finding(
                STORE_INDEX_DAMAGED, f"{counted(len(lines), 'wrong entry', 'wrong entries')} in indexes", tuple(lines)
            )
        elif is_current:  # the statements do not fit the tables of other versions
            yield from self._records(connection)

    def _records(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Check the content of the rows. Call this if SQLite finds no damaged pages."""
        if damaged := damaged_rows(connection):
            yield Finding(RECORDS_DAMAGED, f"{counted(len(damaged), 'damaged record')}", tuple(damaged))
        if wrong := miscounted(connection):
            yield Finding(STORE_MISCOUNTED, f"{counted(len(wrong), 'inbox', 'inboxes')} miscounted", tuple(wrong))

    def _left_by_restore(self) -> Sequence[str]:
        """Return the staged files of a restore, if all are too old for a restore that is still running."""
        oldest = time.time() - LEFTOVER_AGE_S
        staged = sorted(glob(f"{escape(self._path)}{STAGING}*"))
        try:
            return staged if all(os.stat(path).st_mtime < oldest for path in staged) else ()
        except FileNotFoundError:
            return ()  # the restore has just finished

    def _unopened(self, error: Exception) -> Finding:
        fact = explain(self._path, error)
        what = fact.message if isinstance(fact, CoveyError) else f"{self._path}: {error}"
        return Finding(_diagnosis(error), what)

    def _run(self, connection: apsw.Connection, *names: str) -> None:
        """Run statements in one transaction, under the writer lock."""
        execute = on_one_cursor(connection)
        turnstile = WriterLock(self._path)
        try:
            turnstile.enter(BUSY_LIMIT_S)
            execute(_SQL["begin"])
            for name in names:
                execute(_SQL[name])
            execute(_SQL["commit"])
        except apsw.Error as error:
            if connection.in_transaction:
                execute(_SQL["rollback"])
            raise_explained(self._path, error)
        finally:
            turnstile.close()

    def _found(self, findings: Sequence[Finding]) -> Examination:
        try:
            size = os.stat(self._path).st_size
        except OSError:
            size = 0
        return Examination(self.area, f"{self._path}, {size / 1024 / 1024:.1f} MiB, whole", tuple(findings))


def _diagnosis(error: Exception) -> Diagnosis:
    if isinstance(error, apsw.NotADBError):
        return STORE_FOREIGN
    is_damaged = isinstance(error, apsw.CorruptError | apsw.FormatError | apsw.SQLError | UnicodeDecodeError)
    return STORE_DAMAGED if is_damaged else STORE_UNREADABLE


def _beats(tell: ProgressCallback) -> Callable[[], bool]:
    """Return a progress handler for SQLite."""
    beats = count(STEPS, STEPS)

    def beat() -> bool:
        tell(next(beats), None)
        return False  # True would interrupt SQLite

    return beat


FAR_BEHIND: Final = 5_000
"""Messages that cost the next search some tenths of a second. Fewer are not noticeable."""

ALL: Final = -1
"""SQLite's value for no limit."""

_INDEX = statements("search")
_MESSAGES = statements("messages")
_PRUNED = statements("pruning")["has"]


class SearchCheckup:
    area = Area.SEARCH

    def __init__(self, path: str) -> None:
        self._store = absolute(path)
        self._index = f"{self._store}-search"

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del tell
        try:
            store = open_read_only(self._store)
        except (apsw.Error, OSError) as error:
            raise_explained(self._store, error)
        try:
            return self._look(on_one_cursor(store), thorough)
        except apsw.Error as error:
            raise_explained(self._store, error)
        finally:
            store.close()

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        if any(finding.diagnosis is SEARCH_DAMAGED for finding in findings):
            delete_index(self._index)
        search = SqliteSearch(self._store)
        try:
            await search.find("", 1)  # a search catches up first
        finally:
            await search.close()

    def _look(self, store: Execute, thorough: bool) -> Examination:
        progress = 0
        if os.path.exists(self._index):
            try:
                progress = self._progress(store, thorough)
            except _IndexDamaged as found:
                return self._found("", Finding(SEARCH_DAMAGED, f"{self._index}: {found}"))
        behind: int = store(_MESSAGES["behind"], (progress,)).get
        if behind >= FAR_BEHIND:
            return self._found("", Finding(SEARCH_LAGGING, f"{behind:,} messages are not in the index yet"))
        return self._found(f"up to date but for {counted(behind, 'message')}" if behind else "up to date")

    def _progress(self, store: Execute, thorough: bool) -> int:
        """Return the seq of the last message in the index. An index of another version counts as empty: the next search
        builds it again."""
        try:
            connection = apsw.Connection(self._index, flags=apsw.SQLITE_OPEN_READWRITE)
        except apsw.Error as error:
            raise _IndexDamaged(str(error)) from error
        try:
            connection.set_busy_timeout(int(BUSY_LIMIT_S * 1000))
            if lines := damage(connection, quick=not thorough):
                raise _IndexDamaged("; ".join(lines))
            index = on_one_cursor(connection)
            if index(_INDEX["version"]).get != VERSION:
                return 0
            (seq, message_id), *_ = index(_INDEX["progress"])
            if seq and not _is_known(store, seq, message_id):
                raise _IndexDamaged("it belongs to another store")
            there = {place for (place,) in store(_MESSAGES["between"], (0, seq))}
            if lost := there - {place for (place,) in index(_INDEX["next_places"], (0, ALL))}:
                raise _IndexDamaged(f"{counted(len(lost), 'message')} missing from it")
            return seq
        except (apsw.Error, ValueError, Invalid) as error:
            raise _IndexDamaged(str(error)) from error
        finally:
            connection.close()

    def _found(self, summary: str, *findings: Finding) -> Examination:
        return Examination(self.area, summary, findings)


def _is_known(store: Execute, seq: int, message_id: str) -> bool:
    """Tell whether the last indexed message is still in the store, or was pruned from it."""
    if store(_MESSAGES["at"], (seq,)).get == message_id:
        return True
    return store(_PRUNED, (packed(parse_message_id(message_id)),)).fetchone() is not None


class _IndexDamaged(Exception):
    """The reason why the index can't be used."""
