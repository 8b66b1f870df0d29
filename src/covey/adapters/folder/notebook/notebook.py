"""The notebook: the known files of the folder and their places, in a disposable database beside the ledger."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from covey.adapters.folder.entries import FolderMark
from covey.adapters.folder.notebook.database import IN_MEMORY, Database
from covey.adapters.folder.notebook.records import FolderSort, Row, SetAside
from covey.core.names import AgentName, MessageId

_MESSAGES: Final = 256
_ROWS: Final = 64
"""The largest number of messages in the cache, and the largest number of files of one of them."""


class _NotebookCache:
    """The cache of a connection, so that a look at an unchanged folder needs no query."""

    __slots__ = ("agents", "asides", "folders", "marks", "messages", "names", "owed", "owners", "rows")

    def __init__(self, notebook: "Notebook") -> None:
        ask = notebook.ask
        self.marks: dict[str, str] = dict(ask("marks"))
        self.owners: set[str] = {name for (name,) in ask("owners")}
        self.folders: dict[str, FolderMark] = {
            folder: FolderMark(*rest) for folder, *rest in ask("folders", FolderSort.INBOX)
        }
        self.asides: dict[tuple[str, str], SetAside] = {
            (one.folder, one.name): one for one in map(_aside, ask("asides"))
        }
        self.owed: dict[tuple[str, str], Row] = {(one[0], one[1]): Row(*one) for one in ask("owed")}
        self.rows: dict[str, dict[str, Row]] = {}
        """The files of each inbox that was asked for, by name."""
        self.messages: dict[str, Sequence[Row]] = {}
        """All files of the messages that were asked for lately."""
        self.agents: dict[str, str] = dict(ask("names"))
        """Agents by their foreign names."""
        self.names = {agent: name for name, agent in self.agents.items()}


class Notebook:
    """One connection with its cache, for one thread at a time."""

    def __init__(self, path: str) -> None:
        """Open the notebook, or make an empty one. A damaged notebook is deleted."""
        self._memory: _NotebookCache | None = None
        self._version = -1
        self._database = Database(path, self._forget_all)
        self.ask = self._database.ask
        self.writing = self._database.writing
        self.flush = self._database.flush
        self.close = self._database.close

    @classmethod
    def copied(cls, path: str | None) -> "Notebook":
        """Return a notebook in memory: a copy of the one at `path`, or an empty one if there is none."""
        notebook = cls(IN_MEMORY)
        if path is not None and os.path.lexists(path):
            notebook._database.copy(path)
        return notebook

    @property
    def is_current(self) -> bool:
        """True if the file at the path is still the opened one: a program or a person may delete it at any time."""
        return self._database.is_current

    @property
    def inode(self) -> int:
        """The inode of the opened file."""
        return self._database.inode

    def hold(self) -> None:
        """Commit later writes only with the next `flush`, so that they cost one transaction."""
        self._database.is_held = True

    def let_go(self) -> None:
        """End `hold`. Writes that are not committed are rolled back."""
        if self._database.is_held:
            self._database.is_held = False
            if self._database.is_pending:
                self._database.undo()

    @property
    def version(self) -> int:
        """The number at the last `refresh`, which changes when another connection writes."""
        return self._version

    def refresh(self) -> int:
        """Clear the cache if another connection has written since, and return the new `version`."""
        version = int(self._database.run("changes").get)
        if version != self._version:
            self._version = version
            self._memory = None
        return version

    # Files and their places.

    def in_folder(self, folder: str) -> dict[str, Row]:
        return {found[1]: Row(*found) for found in self.ask("in_folder", folder)}

    def in_inbox(self, folder: str) -> dict[str, Row]:
        """Like `in_folder`, but cached: for inboxes."""
        kept = self._kept.rows
        if folder not in kept:
            kept[folder] = self.in_folder(folder)
        return dict(kept[folder])

    def at(self, folder: str, name: str) -> Row | None:
        kept = self._kept.rows.get(folder)
        return kept.get(name) if kept is not None else next(iter(self._rows("at", folder, name)), None)

    def owed(self) -> Sequence[Row]:
        return list(self._kept.owed.values())

    def standing(self) -> Sequence[Row]:
        return self._rows("standing")

    def by_id(self, file_id: str) -> Sequence[Row]:
        return self._rows("by_id", file_id)

    def by_message(self, message_id: str) -> Sequence[Row]:
        kept = self._kept.messages
        found = kept.get(message_id)
        if found is None:
            found = self._rows("by_message", message_id)
            if len(kept) >= _MESSAGES:
                kept.clear()
            if len(found) <= _ROWS:
                kept[message_id] = found
        return found

    def of_agent(self, message_id: str, agent: str) -> Sequence[Row]:
        kept = self._kept.messages.get(message_id)
        if kept is not None:
            return [each for each in kept if each.agent == agent]
        return self._rows("of_agent", message_id, agent)

    def messages(self, after: str, limit: int) -> Sequence[MessageId]:
        return [MessageId(found) for (found,) in self.ask("messages", after, limit)]

    def count(self) -> int:
        return int(self._database.run("count").get)

    def put(self, rows: Iterable[Row]) -> None:
        kept = self._kept
        for each in rows:
            self._database.write("put", tuple(each))
            kept.messages.clear()
            if each.folder in kept.rows:
                kept.rows[each.folder][each.name] = each
            if each.stamp:
                kept.owed.pop((each.folder, each.name), None)
            else:
                kept.owed[each.folder, each.name] = each

    def forget(self, rows: Iterable[Row]) -> None:
        kept = self._kept
        for each in rows:
            self._database.write("forget", (each.folder, each.name))
            kept.messages.clear()
            kept.owed.pop((each.folder, each.name), None)
            if each.folder in kept.rows:
                kept.rows[each.folder].pop(each.name, None)

    # Entries that were set aside.

    def asides(self) -> Sequence[SetAside]:
        return list(self._kept.asides.values())

    def asides_in(self, folder: str) -> dict[str, SetAside]:
        return {aside.name: aside for aside in self._kept.asides.values() if aside.folder == folder}

    def put_aside(self, aside: SetAside) -> None:
        self._database.write("put_aside", (aside.folder, os.fsencode(aside.name), *aside[2:]))
        self._kept.asides[aside.folder, aside.name] = aside

    def forget_aside(self, folder: str, name: str) -> None:
        if self._kept.asides.pop((folder, name), None) is not None:
            self._database.write("forget_aside", (folder, os.fsencode(name)))

    # Marks of folders.

    def inboxes(self) -> dict[str, FolderMark]:
        """Return the marks of the inboxes and of the folder above them."""
        return dict(self._kept.folders)

    def folder(self, folder: str) -> tuple[int, float]:
        """Return the time in the mark of a folder, and the time when it was last listed; (0, 0.0) if it never was."""
        found = self.ask("folder", folder)
        return found[0] if found else (0, 0.0)

    def leave(self, folder: str, sort: FolderSort, mark: FolderMark, listed_at: float) -> None:
        if sort is FolderSort.INBOX:
            if self._kept.folders.get(folder) == mark:
                return
            self._kept.folders[folder] = mark
        self._database.write("leave", (folder, sort, *mark, listed_at))

    def leave_again(self, folder: str, mark: FolderMark) -> None:
        """Replace the mark of a known folder. The time when it was last listed stays."""
        self._database.write("leave_again", (folder, *mark))
        if folder in self._kept.folders:
            self._kept.folders[folder] = mark

    def forget_folder(self, folder: str) -> None:
        self._database.write("forget_folder", (folder,))
        self._kept.folders.pop(folder, None)

    # Agents, and single values.

    def owners(self) -> set[str]:
        return self._kept.owners

    def own(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._kept.owners:
                self._database.write("own", (name,))
                self._kept.owners.add(name)

    def agent_called(self, name: str) -> AgentName | None:
        found = self._kept.agents.get(name)
        return AgentName(found) if found is not None else None

    def name_of(self, agent: str) -> str | None:
        return self._kept.names.get(agent)

    def call(self, agent: str, name: str) -> None:
        with self.writing():
            self._database.write("uncall", (agent,))
            self._database.write("call", (name, agent))
        kept = self._kept
        kept.agents = {other: one for other, one in kept.agents.items() if one != agent} | {name: agent}
        kept.names = {one: other for other, one in kept.agents.items()}

    def mark(self, name: str) -> str:
        """Return the value of a mark; "" if it was never set."""
        return self._kept.marks.get(name, "")

    def put_marks(self, marks: Mapping[str, str]) -> None:
        with self.writing():
            for name, value in marks.items():
                if self.mark(name) != value:
                    self._database.write("put_mark", (name, value))
                    self._kept.marks[name] = value

    @property
    def _kept(self) -> _NotebookCache:
        if self._memory is None:
            self._memory = _NotebookCache(self)
        return self._memory

    def _rows(self, statement: str, *values: object) -> Sequence[Row]:
        return [Row(*found) for found in self.ask(statement, *values)]

    def _forget_all(self) -> None:
        self._memory = None


def _aside(found: tuple[str, bytes, str, str, str]) -> SetAside:
    folder, name, *rest = found
    return SetAside(folder, os.fsdecode(name), *rest)
