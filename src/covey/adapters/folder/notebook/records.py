"""What the notebook says of files: where one stands, and what was left as it is."""

from enum import StrEnum
from typing import NamedTuple

from covey.core.formats.layout import KnownFile, Shelf, Spot
from covey.core.ids import MessageId
from covey.core.names import AgentName


class Sort(StrEnum):
    """Which folders are looked at when."""

    INBOX = "inbox"
    """With every look: what is in it waits for somebody. Also those in which inboxes are made."""
    HISTORY = "history"
    """Now and then."""


class Row(NamedTuple):
    """A file that stands for the copy of a message that an agent has."""

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
    """What tells this state of the file from others; "" where it is owed: not there yet, or gone."""

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"

    @property
    def known(self) -> KnownFile:
        spot = Spot(Shelf(self.shelf), self.owner, self.name, self.scope)
        return KnownFile(self.file_id, MessageId(self.message_id), AgentName(self.agent), spot, bool(self.is_ours))


class Aside(NamedTuple):
    """Something that is left as it is until it changes."""

    folder: str
    name: str
    """Not always text: a byte that is none has a surrogate in its place."""
    kind: str
    stamp: str
    problem: str

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}" if self.folder else self.name


def row(known: KnownFile, folder: str, digest: str, stamp: str) -> Row:
    """Return how a file is remembered."""
    spot = known.spot
    where = spot.shelf, spot.owner, spot.scope
    return Row(
        folder, spot.name, known.file_id, known.message_id, known.agent, *where, int(known.is_ours), digest, stamp
    )
