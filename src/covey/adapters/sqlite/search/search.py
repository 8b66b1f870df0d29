"""Search in SQLite: the index catches up with the store at each search, so that no send waits for indexing."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

import apsw

from covey.adapters.sqlite.engine.access import on_one_cursor, statements
from covey.adapters.sqlite.engine.connection import Row, Schema, absolute, connect
from covey.adapters.sqlite.engine.files import raise_explained
from covey.adapters.sqlite.records.pruning import packed
from covey.adapters.sqlite.records.rows import decode_document
from covey.adapters.sqlite.search.index import IndexProgress, SearchIndex, delete_index
from covey.core.errors import MessageDamaged, StoreClosed
from covey.core.ledger.message import Message
from covey.core.names import MessageId
from covey.core.reporting import Report, Reporting, report_nothing
from covey.ports.ledger import MessageFilter, SearchHit

T = TypeVar("T")

BATCH: Final = 500
"""Number of messages that are indexed at once. Other processes may search between two batches."""

_SQL = statements("messages")
_PRUNED = statements("pruning")["has"]
_WORD: Final = re.compile(r"[^\W_]+")
_DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError)


class SqliteSearch:
    """A search for one thread, which never suspends. It reads the store through its own connection."""

    def __init__(self, path: str | os.PathLike[str], report: Report = report_nothing) -> None:
        """Open the search over the store at `path`."""
        self._report = report
        self._path = absolute(path)
        self._connection = connect(self._path, "normal")
        self._execute = on_one_cursor(self._connection)
        self._schema = Schema(self._connection, self._path)
        self._index: SearchIndex | None = None
        self._is_closed = False

    async def find(self, words: str, limit: int, wanted: MessageFilter | None = None) -> Sequence[SearchHit]:
        distinct = tuple(dict.fromkeys(_WORD.findall(words)))

        def find(index: SearchIndex) -> Sequence[SearchHit]:
            self._catch_up(index)
            hits = index.find(distinct, limit, wanted or MessageFilter()) if distinct else ()
            if all(self._execute(_SQL["get"], (hit.message_id,)).fetchone() for hit in hits):
                return hits
            self._forget(index)
            return index.find(distinct, limit, wanted or MessageFilter())

        return self._with_index(find)

    async def forget(self) -> None:
        self._with_index(self._forget)

    async def lag(self) -> int:
        return self._with_index(lambda index: self._execute(_SQL["behind"], (self._progress(index),)).get)

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._connection.close()
            if self._index is not None:
                self._index.close()

    def _with_index(self, use: Callable[[SearchIndex], T]) -> T:
        """Call `use` with the index. If the index is damaged, build a new index and call `use` again."""
        if self._is_closed:
            raise StoreClosed
        path = f"{self._path}-search"
        self._schema.check()
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
        """Return the seq of the last message in the index. An index of another store counts as damaged."""
        progress = index.progress()
        return progress.seq if progress.seq == 0 or self._is_here(progress) else index.take_back(self._is_here)

    def _is_here(self, place: IndexProgress) -> bool:
        """Tell whether the store still has the indexed message at its seq. After pruning the message is gone, and
        another message may have the seq. Raise FormatError for a message that was never in this store."""
        if self._execute(_SQL["at"], (place.seq,)).get == place.message_id:
            return True
        try:
            was_pruned = self._execute(_PRUNED, (packed(MessageId(place.message_id)),)).fetchone() is not None
        except (ValueError, OverflowError):  # the text is no message id
            was_pruned = False
        if not was_pruned:
            raise apsw.FormatError("the index belongs to another store")
        return False

    def _forget(self, index: SearchIndex) -> None:
        self._progress(index)
        after = 0
        while places := index.places(after, BATCH):
            here = {seq for (seq,) in self._execute(_SQL["between"], (after, places[-1]))}
            index.drop([seq for seq in places if seq not in here])
            after = places[-1]

    def _newest(self) -> int:
        return self._execute(_SQL["newest_seq"]).get

    def _catch_up(self, index: SearchIndex) -> None:
        newest = self._newest()
        begun = after = self._progress(index)
        with Reporting(self._report, "indexing messages") as reporting:
            while after < newest:
                rows = list(self._execute(_SQL["after"], (after, BATCH)))
                if not rows:
                    return  # the messages were pruned meanwhile
                index.take_in(after, _readable(rows), IndexProgress(rows[-1][0], rows[-1][1]))
                after = self._progress(index)
                if after < newest:
                    reporting.at(after - begun, newest - begun)


def _readable(rows: Sequence[Row]) -> Iterator[tuple[int, Message]]:
    """Yield the readable messages with their seqs. A damaged message is not indexed."""
    for seq, *row in rows:
        try:
            yield seq, decode_document(*row)
        except MessageDamaged:
            continue
