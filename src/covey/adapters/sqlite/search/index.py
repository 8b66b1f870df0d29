"""The search index: a disposable database beside the store, built again whenever it is missing or damaged."""

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

import apsw

from covey.adapters.sqlite.engine.access import Execute, on_one_cursor, statements
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S, remove
from covey.adapters.sqlite.records.rows import to_text, to_text_or_null
from covey.core.ledger.message import Message
from covey.core.names import MessageId
from covey.disk.files import write_new
from covey.ports.ledger import MessageFilter, SearchHit

VERSION: Final = 2
PAGE: Final = 500
"""Number of messages in one query."""

_SQL = statements("search")
_STORE = statements("store")


class IndexProgress(NamedTuple):
    """The last message in the index."""

    seq: int
    message_id: str


class SearchIndex:
    """An index on one connection, on one thread. Several processes may maintain the same index."""

    def __init__(self, path: str) -> None:
        """Open the index, or make an empty one."""
        self._path = path
        write_new(path, b"")
        self._connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        self._inode = os.stat(path).st_ino
        try:
            self._connection.set_busy_timeout(int(BUSY_LIMIT_S * 1000))
            self._execute: Execute = on_one_cursor(self._connection)
            self._execute(_SQL["set_up"])
            self._make()
        except BaseException:
            self._connection.close()
            raise

    @property
    def is_current(self) -> bool:
        """Tell whether the path still names the opened file: any program may delete the index at any time."""
        try:
            return os.stat(self._path).st_ino == self._inode
        except FileNotFoundError:
            return False

    def progress(self) -> IndexProgress:
        """Return the last message in the index."""
        return IndexProgress(*next(self._execute(_SQL["progress"])))

    def take_in(self, after: int, messages: Iterable[tuple[int, Message]], last: IndexProgress) -> None:
        """Add messages with their seqs, and set the progress to `last`. Do nothing if another process has moved the
        progress on from `after`."""
        with self._writing():
            if self.progress().seq == after:
                for seq, message in messages:
                    self._execute(_SQL["take_in"], _row(seq, message))
                self._execute(_SQL["advance"], last)

    def places(self, after: int, limit: int) -> Sequence[int]:
        """Return the next seqs of messages in the index."""
        return [seq for (seq,) in self._execute(_SQL["next_places"], (after, limit))]

    def drop(self, places: Iterable[int]) -> None:
        """Remove messages that the store no longer has."""
        with self._writing():
            for seq in places:
                self._execute(_SQL["drop"], (seq,))

    def take_back(self, is_here: Callable[[IndexProgress], bool]) -> int:
        """Remove the newest messages from the index until the store still has one. Set the progress to that message,
        and return its seq."""
        with self._writing():
            while newest := [IndexProgress(*row) for row in self._execute(_SQL["newest"], (PAGE,))]:
                for place in newest:
                    if is_here(place):
                        self._execute(_SQL["advance"], place)
                        return place.seq
                    self._execute(_SQL["drop"], (place.seq,))
            self._execute(_SQL["advance"], IndexProgress(0, ""))
        return 0

    def find(self, words: Sequence[str], limit: int, wanted: MessageFilter) -> Sequence[SearchHit]:
        """Return the best messages that have all the words and match the filter."""
        query = " ".join(f'"{word}"' for word in words)
        if any(wanted):
            since = to_text_or_null(wanted.since)
            values = (query, limit, wanted.scope, wanted.subject, wanted.kind, wanted.sender, since)
            rows = self._execute(_SQL["find_fitting"], values)
        else:
            rows = self._execute(_SQL["find"], (query, limit))
        return [SearchHit(MessageId(found), snippet) for found, snippet in rows]

    def close(self) -> None:
        self._connection.close()

    def _make(self) -> None:
        if self._execute(_SQL["version"]).get == VERSION:
            return
        with self._writing():
            version = self._execute(_SQL["version"]).get
            if version == 0:
                self._execute(_SQL["create"])
        if version not in (0, VERSION):
            raise apsw.FormatError("the index has another format")

    @contextmanager
    def _writing(self) -> Generator[None]:
        self._execute(_STORE["begin"])
        try:
            yield
            self._execute(_STORE["commit"])
        except BaseException:
            if self._connection.in_transaction:
                self._execute(_STORE["rollback"])
            raise


def _row(seq: int, message: Message) -> tuple[int | str | None, ...]:
    return (
        seq,
        message.subject,
        message.text,
        message.id,
        message.scope,
        message.kind,
        message.sender.agent,
        to_text(message.created_at),
    )


def delete_index(path: str) -> None:
    """Remove the files of an index."""
    for name in (path, f"{path}-journal"):
        remove(name)
