"""Search in SQLite: catches up with the store when it is asked, so that no send ever waits for it."""

import os
import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import apsw

from covey.adapters.sqlite.access import on_one_cursor
from covey.adapters.sqlite.connection import absolute, connect
from covey.adapters.sqlite.search_index import SearchIndex, delete_index
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.trouble import raise_explained
from covey.core.errors import StoreClosed
from covey.core.wire import decode
from covey.ports.search import Hit

T = TypeVar("T")

BATCH: Final = 500
"""How many messages the index takes in at once; other processes may search between two batches."""

_SQL = statements("messages")
_WORD: Final = re.compile(r"[^\W_]+")
_DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError)


class SqliteSearch:
    """For one thread; never suspends. It reads the store through a connection of its own."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the search over the store at `path`."""
        self._path = absolute(path)
        self._connection = connect(self._path, "normal")
        self._execute = on_one_cursor(self._connection)
        self._index: SearchIndex | None = None
        self._is_closed = False

    async def find(self, words: str, limit: int) -> Sequence[Hit]:
        wanted = tuple(dict.fromkeys(_WORD.findall(words)))

        def find(index: SearchIndex) -> Sequence[Hit]:
            self._catch_up(index)
            return index.find(wanted, limit) if wanted else ()

        return self._with_index(find)

    async def lag(self) -> int:
        return self._with_index(lambda index: self._newest() - self._progress(index))

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._connection.close()
            if self._index is not None:
                self._index.close()

    def _with_index(self, use: Callable[[SearchIndex], T]) -> T:
        """Use the index; if it turns out to be damaged, make it anew and use that."""
        if self._is_closed:
            raise StoreClosed
        path = f"{self._path}-search"
        try:
            try:
                return use(self._open(path))
            except _DAMAGED:
                if self._index is not None:
                    self._index.close()
                    self._index = None
                delete_index(path)
                return use(self._open(path))
        except (apsw.Error, OSError) as error:
            raise_explained(path, error)

    def _open(self, path: str) -> SearchIndex:
        if self._index is not None and not self._index.is_current:
            self._index.close()
            self._index = None
        if self._index is None:
            self._index = SearchIndex(path)
        return self._index

    def _progress(self, index: SearchIndex) -> int:
        """Return how far the index has come; one that belongs to another store is damaged."""
        progress = index.progress()
        if progress.seq and self._execute(_SQL["at"], (progress.seq,)).get != progress.message_id:
            raise apsw.FormatError("the index belongs to another store")
        return progress.seq

    def _newest(self) -> int:
        return self._execute(_SQL["newest_seq"]).get

    def _catch_up(self, index: SearchIndex) -> None:
        newest = self._newest()
        while (after := self._progress(index)) < newest:
            rows = self._execute(_SQL["after"], (after, BATCH))
            index.take_in(after, [(seq, decode(document)) for seq, document in rows])
