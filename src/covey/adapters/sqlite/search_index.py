"""The index of the search: a disposable database beside the store, made anew whenever it is missing or damaged."""

import os
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import apsw

from covey.adapters.sqlite.access import Execute, on_one_cursor
from covey.adapters.sqlite.files import remove, write_new
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.trouble import BUSY_LIMIT_S
from covey.core.ids import MessageId
from covey.core.message import Message
from covey.ports.search import Hit

VERSION: Final = 1

_SQL = statements("search")
_STORE = statements("store")


class Progress(NamedTuple):
    """The last message that the index took in."""

    seq: int
    message_id: str


class SearchIndex:
    """One connection, on one thread. Several processes may keep the same index."""

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
        """Tell whether the file is still the one that was opened: anybody may delete it at any time."""
        try:
            return os.stat(self._path).st_ino == self._inode
        except FileNotFoundError:
            return False

    def progress(self) -> Progress:
        """Return how far it has come."""
        return Progress(*next(self._execute(_SQL["progress"])))

    def take_in(self, after: int, messages: Iterable[tuple[int, Message]]) -> None:
        """Add messages with their places, unless another process has done so since the index stood at `after`."""
        self._execute(_STORE["begin"])
        try:
            if self.progress().seq == after:
                last = None
                for seq, message in messages:
                    self._execute(_SQL["take_in"], (seq, message.subject, message.text, message.id))
                    last = (seq, message.id)
                if last is not None:
                    self._execute(_SQL["advance"], last)
            self._execute(_STORE["commit"])
        except BaseException:
            if self._connection.in_transaction:
                self._execute(_STORE["rollback"])
            raise

    def find(self, words: Sequence[str], limit: int) -> Sequence[Hit]:
        """Return the best messages that have all the words."""
        query = " ".join(f'"{word}"' for word in words)
        return [Hit(MessageId(found), snippet) for found, snippet in self._execute(_SQL["find"], (query, limit))]

    def close(self) -> None:
        self._connection.close()

    def _make(self) -> None:
        if self._execute(_SQL["version"]).get == VERSION:
            return
        self._execute(_STORE["begin"])
        try:
            version = self._execute(_SQL["version"]).get
            if version == 0:
                self._execute(_SQL["create"])
            self._execute(_STORE["commit"])
        except BaseException:
            if self._connection.in_transaction:
                self._execute(_STORE["rollback"])
            raise
        if version not in (0, VERSION):
            raise apsw.FormatError("the index has another form")


def delete_index(path: str) -> None:
    """Remove the files of an index."""
    for name in (path, f"{path}-journal"):
        remove(name)
