"""The notebook: what stands where in the folder, in a disposable database beside the ledger."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from covey.adapters.folder.freshness import Mark
from covey.adapters.folder.notebook.database import IN_MEMORY, Database
from covey.adapters.folder.notebook.records import Aside, Row, Sort
from covey.core.ids import MessageId
from covey.core.names import AgentName

_MESSAGES: Final = 256
_ROWS: Final = 64
"""How many messages are kept in mind, and with how many files at most."""


class _Memory:
    """What a connection keeps in mind, so that a look where nothing has changed asks for nothing."""

    __slots__ = ("agents", "asides", "folders", "marks", "messages", "names", "owed", "owners", "rows")

    def __init__(self, notebook: "Notebook") -> None:
        ask = notebook.ask
        self.marks: dict[str, str] = dict(ask("marks"))
        self.owners: set[str] = {name for (name,) in ask("owners")}
        self.folders: dict[str, Mark] = {folder: Mark(*rest) for folder, *rest in ask("folders", Sort.INBOX)}
        self.asides: dict[tuple[str, str], Aside] = {(one.folder, one.name): one for one in map(_aside, ask("asides"))}
        self.owed: dict[tuple[str, str], Row] = {(one[0], one[1]): Row(*one) for one in ask("owed")}
        self.rows: dict[str, dict[str, Row]] = {}
        """Of the inboxes that were asked for."""
        self.messages: dict[str, Sequence[Row]] = {}
        """Everything of the messages that were asked for lately."""
        self.agents: dict[str, str] = dict(ask("names"))
        """By what others call them."""
        self.names = {agent: name for name, agent in self.agents.items()}


class Notebook:
    """One connection, for one thread at a time."""

    def __init__(self, path: str) -> None:
        """Open the notebook, or make an empty one; a damaged one is thrown away."""
        self._memory: _Memory | None = None
        self._version = -1
        self._database = Database(path, self._forget_all)
        self.ask = self._database.ask
        self.writing = self._database.writing
        self.flush = self._database.flush
        self.close = self._database.close

    @classmethod
    def copied(cls, path: str | None) -> "Notebook":
        """Return a notebook in memory, with what is in the one at `path`, where there is one."""
        notebook = cls(IN_MEMORY)
        if path is not None and os.path.lexists(path):
            notebook._database.copy(path)
        return notebook

    @property
    def is_current(self) -> bool:
        """Tell whether the file is still the one that was opened: anybody may delete it at any time."""
        return self._database.is_current

    @property
    def inode(self) -> int:
        """Which file it is."""
        return self._database.inode

    def hold(self) -> None:
        """Keep what is written from now on only with the next `flush`, so that it costs once."""
        self._database.is_held = True

    def let_go(self) -> None:
        """End that; what was not kept is undone."""
        if self._database.is_held:
            self._database.is_held = False
            if self._database.is_pending:
                self._database.undo()

    @property
    def version(self) -> int:
        """A number that tells whether others have written, as it was at the last `refresh`."""
        return self._version

    def refresh(self) -> int:
        """Forget what is kept in mind where another process has written since; return a number that tells."""
        version = int(self._database.run("changes").get)
        if version != self._version:
            self._version = version
            self._memory = None
        return version

    # What stands where.

    def in_folder(self, folder: str) -> dict[str, Row]:
        return {found[1]: Row(*found) for found in self.ask("in_folder", folder)}

    def in_inbox(self, folder: str) -> dict[str, Row]:
        """Return the same for an inbox, which is kept in mind."""
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

    # What was set aside.

    def asides(self) -> Sequence[Aside]:
        return list(self._kept.asides.values())

    def asides_in(self, folder: str) -> dict[str, Aside]:
        return {aside.name: aside for aside in self._kept.asides.values() if aside.folder == folder}

    def put_aside(self, aside: Aside) -> None:
        self._database.write("put_aside", (aside.folder, os.fsencode(aside.name), *aside[2:]))
        self._kept.asides[aside.folder, aside.name] = aside

    def forget_aside(self, folder: str, name: str) -> None:
        if self._kept.asides.pop((folder, name), None) is not None:
            self._database.write("forget_aside", (folder, os.fsencode(name)))

    # How folders were left.

    def inboxes(self) -> dict[str, Mark]:
        """Return how the inboxes were left."""
        return dict(self._kept.folders)

    def folder(self, folder: str) -> tuple[int, float]:
        """Return how a folder was left, and when it was last looked through; (0, 0.0) where it never was."""
        found = self.ask("folder", folder)
        return found[0] if found else (0, 0.0)

    def leave(self, folder: str, sort: Sort, mark: Mark, listed_at: float) -> None:
        if sort is Sort.INBOX:
            if self._kept.folders.get(folder) == mark:
                return
            self._kept.folders[folder] = mark
        self._database.write("leave", (folder, sort, *mark, listed_at))

    def leave_again(self, folder: str, mark: Mark) -> None:
        """Note how a folder is left that is known; when it was looked through stays."""
        self._database.write("leave_again", (folder, *mark))
        if folder in self._kept.folders:
            self._kept.folders[folder] = mark

    def forget_folder(self, folder: str) -> None:
        self._database.write("forget_folder", (folder,))
        self._kept.folders.pop(folder, None)

    # Agents, and marks.

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
        """Return a mark; "" where it was never set."""
        return self._kept.marks.get(name, "")

    def put_marks(self, marks: Mapping[str, str]) -> None:
        with self.writing():
            for name, value in marks.items():
                if self.mark(name) != value:
                    self._database.write("put_mark", (name, value))
                    self._kept.marks[name] = value

    @property
    def _kept(self) -> _Memory:
        if self._memory is None:
            self._memory = _Memory(self)
        return self._memory

    def _rows(self, statement: str, *values: object) -> Sequence[Row]:
        return [Row(*found) for found in self.ask(statement, *values)]

    def _forget_all(self) -> None:
        self._memory = None


def _aside(found: tuple[str, bytes, str, str, str]) -> Aside:
    folder, name, *rest = found
    return Aside(folder, os.fsdecode(name), *rest)
