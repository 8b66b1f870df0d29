"""The reader: operations over one consistent snapshot."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import apsw

import covey.ports as ports
from covey.adapters.sqlite.engine.access import Access, on_one_cursor, refuse
from covey.adapters.sqlite.engine.condition import Condition
from covey.adapters.sqlite.engine.connection import Schema
from covey.adapters.sqlite.engine.connection_cache import ConnectionCache
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.engine.trouble import explain, raise_explained
from covey.adapters.sqlite.transactions.operations import Job
from covey.adapters.sqlite.transactions.transaction import SqliteTransaction
from covey.core.drive import finish

T = TypeVar("T")

_SQL = statements("store")
_VIEW = _SQL["view"]
_END = _SQL["commit"]
_VERSION = _SQL["version"]


class Reader:
    """A reader on one connection, on one thread."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        condition: Condition,
        known: ConnectionCache | None = None,
        refresh: Callable[[], None] | None = None,
    ) -> None:
        self._refresh = refresh
        """Brings a replica up to date before a read. None if no refresh is needed."""
        self._condition = condition
        self._connection = connection
        self._path = path
        self._known = known or ConnectionCache()
        self._schema = Schema(connection, path)
        self._execute = on_one_cursor(connection)
        self._access = Access(self._execute, refuse, self._known)
        self._transaction = SqliteTransaction(self._access)

    def alone(self, operation: "ports.Operation[T]") -> T:
        """Run one operation."""
        if self._refresh is not None:
            self._refresh()
        try:
            self._begin()
            return finish(operation(self._transaction))
        except (apsw.Error, UnicodeDecodeError) as error:
            raise_explained(self._path, error)
        finally:
            self._end()

    def together(self, take: Callable[[], Sequence[Job]]) -> Sequence[Job]:
        """Run all operations that `take` returns over one snapshot, which is not older than any of them."""
        jobs = take()
        if self._refresh is not None:
            self._refresh()
        try:
            self._begin()
            for job in jobs:
                self._run(job)
        except apsw.Error as error:
            raise_explained(self._path, error)
        finally:
            self._end()
        return jobs

    def close(self) -> None:
        self._connection.close()

    def _run(self, job: Job) -> None:
        try:
            job.value = finish(job.operation(self._transaction))
        except (apsw.Error, UnicodeDecodeError) as error:
            job.error = explain(self._path, error)
        except BaseException as error:  # noqa: BLE001 - the caller that awaits the job gets it
            job.error = error

    def _begin(self) -> None:
        self._condition.check_database()
        self._execute(_VIEW)
        version = self._execute(_VERSION).get
        if version != self._known.version:
            self._schema.check()
        self._transaction.begin(version)

    def _end(self) -> None:
        self._transaction.topics.clear()
        if self._connection.in_transaction:
            try:
                self._execute(_END)
            except apsw.Error as error:  # on a damaged file even the end of a read can fail
                if self._connection.in_transaction:
                    self._execute(_SQL["rollback"])
                raise_explained(self._path, error)
