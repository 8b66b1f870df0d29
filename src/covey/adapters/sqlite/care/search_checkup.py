"""The checkup of the search index: integrity, origin, completeness and lag."""

import os
from collections.abc import Sequence
from typing import Final

import apsw

from covey.adapters.sqlite.care.integrity import damage
from covey.adapters.sqlite.engine.access import Execute, on_one_cursor
from covey.adapters.sqlite.engine.connection import absolute
from covey.adapters.sqlite.engine.opening import open_to_look
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S, raise_explained
from covey.adapters.sqlite.records.pruning import packed
from covey.adapters.sqlite.search.index import VERSION, delete_index
from covey.adapters.sqlite.search.search import SqliteSearch
from covey.core.care.diagnoses import SEARCH_DAMAGED, SEARCH_LAGGING
from covey.core.care.finding import Area, Examination, Finding
from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ids import parse_message_id
from covey.core.text.wording import counted
from covey.ports.checkup import Tell

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

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        del tell
        try:
            store = open_to_look(self._store)
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
            except _Damaged as found:
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
            raise _Damaged(str(error)) from error
        try:
            connection.set_busy_timeout(int(BUSY_LIMIT_S * 1000))
            if lines := damage(connection, quick=not thorough):
                raise _Damaged("; ".join(lines))
            index = on_one_cursor(connection)
            if index(_INDEX["version"]).get != VERSION:
                return 0
            (seq, message_id), *_ = index(_INDEX["progress"])
            if seq and not _is_known(store, seq, message_id):
                raise _Damaged("it belongs to another store")
            there = {place for (place,) in store(_MESSAGES["between"], (0, seq))}
            if lost := there - {place for (place,) in index(_INDEX["next_places"], (0, ALL))}:
                raise _Damaged(f"{counted(len(lost), 'message')} missing from it")
            return seq
        except (apsw.Error, ValueError, Invalid) as error:
            raise _Damaged(str(error)) from error
        finally:
            connection.close()

    def _found(self, summary: str, *findings: Finding) -> Examination:
        return Examination(self.area, summary, findings)


def _is_known(store: Execute, seq: int, message_id: str) -> bool:
    """Tell whether the last indexed message is still in the store, or was pruned from it."""
    if store(_MESSAGES["at"], (seq,)).get == message_id:
        return True
    return store(_PRUNED, (packed(parse_message_id(message_id)),)).fetchone() is not None


class _Damaged(Exception):
    """The reason why the index can't be used."""
