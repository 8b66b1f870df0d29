"""The folder of a files store: what people and foreign programs see of a space, and where they put what they say.

The ledger is the truth. The folder is brought in line with it, and what others have done there since the last look is
told once. A notebook beside the ledger remembers what stands where. It may be lost: then all is looked at again, and
nothing is taken in twice, because ids are derived from what is in the files.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.layout import Known, Layout, Spot
from covey.core.names import AgentName


class Arrived(NamedTuple):
    """A file that is new, or has another content than before."""

    spot: Spot
    content: bytes
    digest: str
    """SHA-256 of the content, in hex."""
    written_at: float
    """When it was last changed, in seconds since 1970."""


class Left(NamedTuple):
    """A known file that is no longer where it was."""

    known: Known
    now: Spot | None
    """Where it was moved to; None where it is gone."""


class Sighting(NamedTuple):
    """What others have done since the last look."""

    arrived: Sequence[Arrived] = ()
    left: Sequence[Left] = ()
    registry: Mapping[str, Json] | None = None
    """The entries of the registry, where it is not as we left it."""
    owners: Sequence[str] = ()
    """Folders of agents that were not there before."""
    is_more: bool = False
    """There is more to see than one look takes in: look again."""

    @property
    def is_quiet(self) -> bool:
        """Tell whether they have done nothing."""
        return not (self.arrived or self.left or self.owners or self.is_more) and self.registry is None


class Sheet(NamedTuple):
    """How a copy of a message should stand in the folder."""

    known: Known
    content: bytes
    is_new: bool = False
    """It was filed a moment ago, and is not looked for where it might have stood before."""


class Setback(NamedTuple):
    """Something in the folder that could not be understood, and was left as it is."""

    path: str
    """From the root of the folder on."""
    problem: str


class Visit(Protocol):
    """One visit to the folder, alone among all processes of the space."""

    async def look(self, limit: int) -> Sighting:
        """Return what others have done, up to about so many files; quick where nothing has changed. A file is told
        again until `note` or `set_aside` has it. One that is younger than a moment and can't be read as JSON is not
        told yet: it may be half written."""
        ...

    async def note(self, known: Sequence[Known], digests: Mapping[Spot, str]) -> None:
        """Remember files that are there, with the digest of what each holds; without one, it is what it was where the
        file stood before. What stood elsewhere under the same id for the same agent is forgotten there."""
        ...

    async def set_aside(self, spot: Spot, digest: str, problem: str) -> None:
        """Leave a file as it is until it changes, and remember why."""
        ...

    async def bring(self, sheets: Sequence[Sheet]) -> None:
        """Bring files in line: written where they are missing, moved where they stand elsewhere, left where they are
        right. Whole when this returns, never to be seen by halves, and durable when the visit has ended. Idempotent.
        The name of a spot is a wish: where another file has it, it stays, and a free one is taken."""
        ...

    async def keep_file(self, owner: str, file_id: str, name: str, content: bytes) -> str | None:
        """Keep a file part of a copy in the folder of `owner`, and return its path, by which a foreign program opens
        it. None where it can't be written there. The same again changes nothing."""
        ...

    async def discard(self, known: Sequence[Known]) -> None:
        """Remove files whose messages are gone for good, with those of their file parts, and forget them."""
        ...

    async def known(self, file_id: str) -> Sequence[Known]:
        """Return what is remembered under the id in a file; foreign ones need not be unique."""
        ...

    async def copies(self, message_id: MessageId) -> Sequence[Known]:
        """Return what is remembered of a message."""
        ...

    async def messages(self, after: str, limit: int) -> Sequence[MessageId]:
        """Return the first `limit` ids of remembered messages that come after that one ("" at first), in their
        order."""
        ...

    async def agent_called(self, name: str) -> AgentName | None:
        """Return the agent that a foreign name stands for, where it is not its own."""
        ...

    async def call(self, agent: AgentName, name: str) -> None:
        """Remember the foreign name of an agent; its folder has that name."""
        ...

    async def owner_of(self, agent: AgentName) -> str:
        """Return the name of an agent's folder."""
        ...

    @property
    def position(self) -> int:
        """How far in the journal the files are in line."""
        ...

    @property
    def manifest_position(self) -> int:
        """How far in the journal the manifest goes."""
        ...

    async def advance(self, position: int) -> None:
        """Files are in line up to here."""
        ...

    async def append(self, lines: Sequence[tuple[int, str]], position: int) -> bool:
        """Add lines to the manifest, each with its position in the journal, in one write; with them it goes up to
        `position`. Those that are there already are not added again. A torn last line of ours is completed, one of
        others ended. False where a foreign program holds the lock for too long: then nothing was added."""
        ...

    async def registry(self) -> Mapping[str, Json]:
        """Return the entries of the registry as they are now; none where there is no registry, or none that can be
        read."""
        ...

    async def register(self, entries: Mapping[str, Mapping[str, Json]]) -> None:
        """Put entries into the registry, in the place of those with the same names; all others stay as they are."""
        ...


class SharedArchive(Protocol):
    """The archive of a folder where other programs archive a message by moving its file, and the first one wins."""

    def claim(self, file_ids: Collection[str]) -> bool:
        """Move the file with one of these ids from an inbox to the archive. False where another program has moved it
        there; True where no such file is known, which then nobody can move."""
        ...

    def path_of(self, file_id: str) -> str | None:
        """Return where the file with an id stands now; None where it stands nowhere."""
        ...


class Folder(Protocol):
    """A folder of one layout. For several tasks and processes at once."""

    @property
    def layout(self) -> Layout: ...

    @property
    def position(self) -> int:
        """How far in the journal the files were in line, as far as this process knows; under 0 where it has not asked
        for news yet. Others may have brought them further."""
        ...

    def has_news(self) -> bool:
        """Tell, at the cost of a few calls of stat, whether a look might find something. It never misses what was
        there a moment before; it may say yes for nothing."""
        ...

    def visit(self, limit_s: float) -> AbstractAsyncContextManager[Visit]:
        """Return a visit, which begins when no other process is there. StoreBusy after so many seconds."""
        ...

    async def setbacks(self) -> Sequence[Setback]:
        """Return what was set aside and is still there, for a person to see to."""
        ...

    def changes(self) -> AbstractAsyncContextManager[AsyncIterator[None]]:
        """Return what yields whenever something in the folder may have changed, and now and then without a reason."""
        ...

    async def close(self) -> None: ...
