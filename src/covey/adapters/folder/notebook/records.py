"""The records of the notebook: known files, and entries that were set aside."""

from enum import StrEnum
from typing import NamedTuple

from covey.core.formats.layout import KnownFile, Shelf, Spot
from covey.core.ids import MessageId
from covey.core.names import AgentName


class Sort(StrEnum):
    """The sorts of folders, by how often they are listed."""

    INBOX = "inbox"
    """Checked with every look: inboxes, whose files wait for an agent, and folders in which inboxes are made."""
    HISTORY = "history"
    """Checked now and then."""


class Row(NamedTuple):
    """A file that represents an agent's copy of a message."""

    folder: str
    name: str
    file_id: str
    message_id: str
    agent: str
    shelf: str
    owner: str
    scope: str
    is_ours: int
    digest: str
    stamp: str
    """The stamp of the file's present state; "" if the file is owed: not written yet, or gone."""

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"

    @property
    def known(self) -> KnownFile:
        spot = Spot(Shelf(self.shelf), self.owner, self.name, self.scope)
        return KnownFile(self.file_id, MessageId(self.message_id), AgentName(self.agent), spot, bool(self.is_ours))


class Aside(NamedTuple):
    """An entry that was set aside: it is ignored until it changes."""

    folder: str
    name: str
    """Not always text: a byte that is no UTF-8 is represented by a surrogate."""
    kind: str
    stamp: str
    problem: str

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}" if self.folder else self.name


def row(known: KnownFile, folder: str, digest: str, stamp: str) -> Row:
    """Return the record of a file."""
    spot = known.spot
    where = spot.shelf, spot.owner, spot.scope
    return Row(
        folder, spot.name, known.file_id, known.message_id, known.agent, *where, int(known.is_ours), digest, stamp
    )
