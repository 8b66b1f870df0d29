"""Records of the notebook: known files, entries that were set aside, and marks that tell whether a scan is due."""

import os
import time
from enum import StrEnum
from typing import Final, NamedTuple

from covey.adapters.folder.entries import aside_stamp, stamp_of
from covey.core.formats.layout import FilePlace, KnownFile, Shelf
from covey.core.names import AgentName, MessageId


class FolderSort(StrEnum):
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
        spot = FilePlace(Shelf(self.shelf), self.owner, self.name, self.scope)
        return KnownFile(self.file_id, MessageId(self.message_id), AgentName(self.agent), spot, bool(self.is_ours))


class SetAside(NamedTuple):
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


# A command that only reads loads this module, but not the package `looking`.


DEEP: Final = "deep_at"
POSITION: Final = "position"
MANIFEST_POSITION: Final = "manifest_position"
MANIFEST_SIZE: Final = "manifest_size"
REGISTRY_STAMP: Final = "registry"
"""Names of marks."""

EVERY_S: Final = 60.0
"""The interval of deep looks, which also find changes in history and files that were changed in place."""
ASIDES_AT_ONCE: Final = 256

_REGISTRY: Final = "_registry.json"


def is_due(deep_at: str) -> bool:
    """Tell whether it is time for a deep look."""
    return not 0 <= time.time() - float(deep_at or "0") < EVERY_S


def is_still(root: str, aside: SetAside) -> bool:
    """Tell whether an entry that was set aside is unchanged."""
    try:
        return aside_stamp(os.lstat(f"{root}/{aside.path}")) == aside.stamp
    except OSError:
        return False


def registry_stamp(root: str) -> str:
    """Return the stamp of the registry's present state; "" if there is no registry."""
    try:
        return stamp_of(os.lstat(f"{root}/{_REGISTRY}"))
    except OSError:
        return ""
