"""The checkup of the store file: presence, origin, integrity, version, write access and counts.

The checkup opens files that no other module opens: a store of a newer version, a damaged store, a read-only store.
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

from covey.adapters.sqlite.care.integrity import damage, damaged_rows, miscounted
from covey.adapters.sqlite.care.place import STAGING
from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.connection import absolute, connect
from covey.adapters.sqlite.engine.files import is_empty, remove
from covey.adapters.sqlite.engine.migrations import missing
from covey.adapters.sqlite.engine.opening import open_to_look
from covey.adapters.sqlite.engine.statements import migration_names, statements
from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S, explain, raise_explained
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.core.care.diagnoses import (
    RECORDS_DAMAGED,
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
from covey.core.errors import CoveyError, StoreCorrupt, StoreNewer
from covey.core.identity import Identity
from covey.core.text.wording import counted
from covey.ports.checkup import Tell

STEPS: Final = 100_000
"""Steps of SQLite between two progress reports."""

LEFTOVER_AGE_S: Final = 3600.0

_SQL = statements("store")
_IN_AN_INDEX: Final = re.compile(r"row \d+ missing from index|wrong # of entries in index|non-unique entry in index")


class StoreCheckup:
    area = Area.STORE

    def __init__(self, path: str) -> None:
        self._path = absolute(path)

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
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

    def _findings(self, thorough: bool, tell: Tell) -> Sequence[Finding]:
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
            connection = open_to_look(self._path)
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
            todo = missing(connection, self._path, migration_names())
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


def _beats(tell: Tell) -> Callable[[], bool]:
    """Return a progress handler for SQLite."""
    beats = count(STEPS, STEPS)

    def beat() -> bool:
        tell(next(beats), None)
        return False  # True would interrupt SQLite

    return beat
