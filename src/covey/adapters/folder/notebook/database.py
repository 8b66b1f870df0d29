"""The database of the notebook: read and written in transactions, and replaced by an empty one when damaged."""

# No pathlib: short-lived programs open it.

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, Final, Protocol

import apsw

from covey.adapters.folder.entries import explained
from covey.core.errors import StoreBusy, StoreFull, StoreReadOnly, Unavailable

VERSION: Final = 3
NOTEBOOK: Final = "mirror.db"
_BUSY_LIMIT_S: Final = 30.0
_NAME: Final = "-- name: "
IN_MEMORY: Final = ":memory:"


def _leave_connections_to_the_parent() -> None:
    from covey.disk.forked_databases import keep_connections  # imported late because only a forked child needs it

    keep_connections()


os.register_at_fork(after_in_child=_leave_connections_to_the_parent)


class _Execute(Protocol):
    # The types that apsw declares for values are not known to every type checker.
    def __call__(self, statement: str, values: tuple[Any, ...] = (), /) -> Any: ...


class Database:
    """One connection, for one thread at a time."""

    def __init__(self, path: str, forget: Callable[[], None]) -> None:
        """Open the database, or make an empty one. A damaged database is deleted. `forget` is called when writes may
        have been lost."""
        self._forget = forget
        self._path = path
        self._is_writing = self._is_begun = False
        self.is_held = False
        """True if writes are committed only by the next `flush`."""
        try:
            self._open()
        except apsw.Error as error:
            if not _is_useless(error):
                raise _fact(path, error) from error
            throw_away(path)
            try:
                self._open()
            except apsw.Error as again:
                raise _fact(path, again) from again

    def _open(self) -> None:
        if self._path != IN_MEMORY:
            with explained(self._path), suppress(FileExistsError):
                # An existing file is never opened here: closing it would drop the locks that SQLite has on it.
                os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        self._connection = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=64)
        try:
            self.inode = inode_of(self._path)
            self._connection.set_busy_timeout(int(_BUSY_LIMIT_S * 1000))
            cursor: Any = self._connection.cursor()
            self._execute: _Execute = cursor.execute
            self._sql = _statements()
            if self._execute(self._sql["version"]).get != VERSION:
                self._make()
            else:
                self._set_up()
        except BaseException:
            self._connection.close()
            raise

    def _make(self) -> None:
        self._set_up()
        self._execute(self._sql["begin"])
        version = self._execute(self._sql["version"]).get
        if version == 0:
            self._execute(self._sql["create"])
        self._execute(self._sql["commit"])
        if version not in (0, VERSION):
            raise apsw.FormatError("the notebook has another format")

    def _set_up(self) -> None:
        self._execute(self._sql["set_up"]).fetchall()

    def copy(self, path: str) -> None:
        """Copy the content of the database at `path` into this one."""
        source = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            with self._connection.backup("main", source, "main") as backup:
                backup.step()
        except apsw.Error as error:
            raise _fact(path, error) from error
        finally:
            source.close()

    @property
    def is_current(self) -> bool:
        """True if the file at the path is still the opened one: a program or a person may delete it at any time."""
        return inode_of(self._path) == self.inode

    @contextmanager
    def writing(self) -> Generator[None]:
        """A transaction: its writes are committed all or not at all. A nested transaction is part of the outer one."""
        if self._is_writing:
            yield
            return
        self._is_writing = True
        try:
            yield
            if not self.is_held:
                self.flush()
        except BaseException:
            self.undo()
            raise
        finally:
            self._is_writing = False

    @property
    def is_pending(self) -> bool:
        """True if there are writes that are not committed."""
        return self._is_begun

    def flush(self) -> None:
        """Commit the pending writes."""
        if self._is_begun:
            self.run("commit")
            self._is_begun = False

    def undo(self) -> None:
        """Roll back the pending writes."""
        self._is_begun = False
        self._forget()
        if self._connection.in_transaction:
            with suppress(apsw.Error):
                self._execute(self._sql["rollback"])

    def ask(self, statement: str, *values: object) -> list[Any]:
        """Return the rows that a statement finds."""
        return self.run(statement, values).fetchall()

    def write(self, statement: str, values: tuple[object, ...]) -> None:
        """Run a statement that writes."""
        if (self._is_writing or self.is_held) and not self._is_begun:
            self.run("begin")
            self._is_begun = True
        self.run(statement, values)

    def run(self, statement: str, values: tuple[object, ...] = ()) -> Any:
        """Run a statement by its name, and return its cursor."""
        try:
            return self._execute(self._sql[statement], values)
        except apsw.Error as error:
            self._forget()
            if _is_useless(error):
                throw_away(self._path)
            raise _fact(self._path, error) from error

    def close(self) -> None:
        self._connection.close()


def inode_of(path: str) -> int:
    """Return the inode of the file at a path; 0 if there is none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def throw_away(path: str) -> None:
    """Remove the files of a notebook. The next process that opens it makes a new one."""
    for beside in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{beside}")


def is_damaged(path: str) -> bool:
    """Tell whether a notebook exists but can't be used."""
    if not os.path.lexists(path):
        return False
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error:
        return True
    try:
        cursor: Any = connection.cursor()
        return cursor.execute(_statements()["check"]).get != "ok"
    except apsw.Error as error:
        return _is_useless(error)
    finally:
        connection.close()


def _is_useless(error: apsw.Error) -> bool:
    return isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.FormatError)


def _fact(path: str, error: apsw.Error) -> Exception:
    match getattr(error, "result", 0):
        case apsw.SQLITE_BUSY | apsw.SQLITE_LOCKED | apsw.SQLITE_PROTOCOL:
            return StoreBusy(path, _BUSY_LIMIT_S)
        case apsw.SQLITE_FULL:
            return StoreFull(path)
        case apsw.SQLITE_READONLY | apsw.SQLITE_PERM:
            return StoreReadOnly(path, str(error))
        case _:
            return Unavailable(f"{path} can't be used: {error}", path=path, reason=str(error))


@cache
def _statements() -> Mapping[str, str]:
    """Return the statements of notebook.sql by name, each on one line and without its comment."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    with open(os.path.join(os.path.dirname(__file__), "notebook.sql"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith(_NAME):
                lines = found.setdefault(line.removeprefix(_NAME).strip(), [])
            elif line and not line.startswith("--"):
                lines.append(line.strip())
    return {name: " ".join(parts) for name, parts in found.items()}
