"""The folder of a files store: a mirror of the ledger that people and foreign programs read, and in which they leave
messages.

The ledger is the truth. The folder is synchronised with it, and changes by other programs are reported. A notebook
beside the ledger remembers the known files and their places. If the notebook is lost, all files are examined again, and
no message is accepted twice, because ids are derived from the content of the files.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from covey.core.formats.layout import FilePlace, KnownFile, Layout
from covey.core.json import Json
from covey.core.names import AgentName, MessageId


class ArrivedFile(NamedTuple):
    """A file that is new, or whose content has changed."""

    spot: FilePlace
    content: bytes
    digest: str
    """SHA-256 of the content, in hex."""
    written_at: float
    """The time of the last change, in seconds since 1970."""


class DepartedFile(NamedTuple):
    """A known file that is no longer in its place."""

    known: KnownFile
    now: FilePlace | None
    """The new place of the file; None if the file is gone."""


class FolderChanges(NamedTuple):
    """Changes by other programs since the last look."""

    arrived: Sequence[ArrivedFile] = ()
    left: Sequence[DepartedFile] = ()
    registry: Mapping[str, Json] | None = None
    """The entries of the registry if another program has changed it, otherwise None."""
    owners: Sequence[str] = ()
    """New folders of agents."""
    is_more: bool = False
    """True if there are more changes than one look reports: look again."""

    @property
    def is_quiet(self) -> bool:
        """True if there are no changes."""
        return not (self.arrived or self.left or self.owners or self.is_more) and self.registry is None


class WantedFile(NamedTuple):
    """The wanted place and content of a file for a copy of a message."""

    known: KnownFile
    content: bytes
    is_new: bool = False
    """True if the copy was just filed, so that its file is not looked for at an earlier place."""


class Setback(NamedTuple):
    """A file in the folder that could not be used, and was left unchanged."""

    path: str
    """The path, relative to the root of the folder."""
    problem: str


class Visit(Protocol):
    """One visit to the folder, exclusive among all processes of the space."""

    async def look(self, limit: int) -> FolderChanges:
        """Return the changes by other programs, up to about `limit` files. The call is fast if nothing has changed. A
        file is reported again until `note` or `set_aside` is called for it. A file that was written a moment ago and is
        no valid JSON is not reported yet: its writer may not have finished."""
        ...

    async def note(self, known: Sequence[KnownFile], digests: Mapping[FilePlace, str]) -> None:
        """Remember files, with the digest of each one's content. For a file without a digest, keep the one from its
        former place. A former place of the same id and agent is forgotten."""
        ...

    async def set_aside(self, spot: FilePlace, digest: str, problem: str) -> None:
        """Ignore a file until it changes, and remember the problem."""
        ...

    async def bring(self, sheets: Sequence[WantedFile]) -> None:
        """Synchronise files: write missing ones, move misplaced ones, leave correct ones. Each file is complete when
        this returns, is never visible in part, and is durable when the visit has ended. The call is idempotent. The
        name of a spot is a preference: if another file has it, that file stays, and a free name is used."""
        ...

    async def keep_file(self, owner: str, file_id: str, name: str, content: bytes) -> str | None:
        """Store a file part of a copy in the folder of `owner`, and return the path at which a foreign program can open
        it; None if it can't be written there. Storing the same file again changes nothing."""
        ...

    async def discard(self, known: Sequence[KnownFile]) -> None:
        """Remove and forget the files of removed messages, with those of their file parts."""
        ...

    async def known(self, file_id: str) -> Sequence[KnownFile]:
        """Return the remembered files with an id; ids of foreign programs need not be unique."""
        ...

    async def copies(self, message_id: MessageId) -> Sequence[KnownFile]:
        """Return the remembered files of a message."""
        ...

    async def messages(self, after: str, limit: int) -> Sequence[MessageId]:
        """Return the first `limit` ids of remembered messages that are greater than `after` ("" at first), sorted."""
        ...

    async def agent_called(self, name: str) -> AgentName | None:
        """Return the agent for a foreign name that is not the agent's own name, or None."""
        ...

    async def call(self, agent: AgentName, name: str) -> None:
        """Remember the foreign name of an agent, which is also the name of its folder."""
        ...

    async def owner_of(self, agent: AgentName) -> str:
        """Return the name of an agent's folder."""
        ...

    @property
    def position(self) -> int:
        """The journal position up to which the files are synchronised."""
        ...

    @property
    def manifest_position(self) -> int:
        """The journal position up to which the manifest is complete."""
        ...

    async def advance(self, position: int) -> None:
        """Record that the files are synchronised up to a position."""
        ...

    async def append(self, lines: Sequence[tuple[int, str]], position: int) -> bool:
        """Append lines to the manifest in one write, each with its position in the journal. The manifest is then
        complete up to `position`. Lines that it has already are not added again. A torn last line of Covey is
        completed, one of another program is ended. Return False, and add nothing, if a foreign program holds the lock
        for too long."""
        ...

    async def registry(self) -> Mapping[str, Json]:
        """Return the present entries of the registry; none if the registry is missing or unreadable."""
        ...

    async def register(self, entries: Mapping[str, Mapping[str, Json]]) -> None:
        """Add or replace entries of the registry, by name. All others stay unchanged."""
        ...


class SharedArchive(Protocol):
    """The archive of a folder in which programs archive a message by moving its file, and the first one wins."""

    def claim(self, file_ids: Collection[str]) -> bool:
        """Move the file with one of these ids from an inbox to the archive. Return False if another program has moved
        it there. Return True also if no such file is known, because then no program can move it."""
        ...

    def path_of(self, file_id: str) -> str | None:
        """Return the present path of the file with an id; None if there is no such file."""
        ...


class Folder(Protocol):
    """A folder of one layout. Safe for several tasks and processes at once."""

    @property
    def layout(self) -> Layout: ...

    @property
    def position(self) -> int:
        """The journal position up to which the files were synchronised, as far as this process knows; negative before
        its first `has_news`. Other processes may have synchronised them further."""
        ...

    def has_news(self) -> bool:
        """Tell whether a look might find changes, at the cost of a few calls of stat. There may be false positives, but
        no change is missed that was there a moment before."""
        ...

    def visit(self, limit_s: float) -> AbstractAsyncContextManager[Visit]:
        """Return a visit, which begins when no other process visits. Raise StoreBusy after `limit_s` seconds."""
        ...

    async def setbacks(self) -> Sequence[Setback]:
        """Return the files that were set aside and still exist, for a person to repair."""
        ...

    def changes(self) -> AbstractAsyncContextManager[AsyncIterator[None]]:
        """Return an iterator that yields when the folder may have changed, and now and then without a reason."""
        ...

    async def close(self) -> None: ...
