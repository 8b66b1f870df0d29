"""Paths of the shelves of a layout, relative to the root of the shared folder."""

import os
from typing import Final

from covey.core.errors import Invalid
from covey.core.formats.foreign_ids import REGISTRY_NAME, is_folder_name
from covey.core.formats.layout import Layout, Shelf, Spot
from covey.core.store_url import STORE_FOLDER

HOME: Final = STORE_FOLDER
"""The private folder of the store: the ledger, the notebook, locks."""
INBOXES: Final = "inbox"
ARCHIVE: Final = "archive"
BY_TASK: Final = "by-task"
SWEPT: Final = f"{ARCHIVE}/{BY_TASK}"
PROCESSED: Final = "processed"
MANIFEST: Final = "manifest.jsonl"

_SUFFIXES: Final = {Layout.DIALOGUE: ".json", Layout.MAILBOX: ".msg.json"}


def suffix_of(layout: Layout) -> str:
    """Return the suffix of the names of message files."""
    return _SUFFIXES[layout]


def folder_of(layout: Layout, spot: Spot) -> str:
    """Return the folder of a spot. Raise Invalid if a name in the spot could lead out of its folder."""
    _check(spot.name)
    if layout is Layout.MAILBOX:
        _check(spot.owner)
        return f"{spot.owner}/{INBOXES if spot.shelf is Shelf.INBOX else PROCESSED}"
    if spot.shelf is Shelf.ARCHIVE:
        return ARCHIVE
    _check(spot.owner if spot.shelf is Shelf.INBOX else spot.scope)
    return f"{INBOXES}/{spot.owner}" if spot.shelf is Shelf.INBOX else f"{SWEPT}/{spot.scope}"


def inbox_of(layout: Layout, owner: str) -> str:
    """Return the inbox of the agent whose folder is `owner`."""
    return f"{INBOXES}/{owner}" if layout is Layout.DIALOGUE else f"{owner}/{INBOXES}"


def above_inboxes(layout: Layout) -> str:
    """Return the folder that contains the folders of agents; "" is the root."""
    return INBOXES if layout is Layout.DIALOGUE else ""


class SharedMail:
    """The mail in a shared folder: the files that hold messages, the manifest and the registry."""

    def __init__(self, root: str, layout: Layout) -> None:
        self.root = os.path.realpath(root)
        self._layout = layout

    def has(self, path: str) -> bool:
        """Tell whether a real path is a file or folder of the mail."""
        if not path.startswith(f"{self.root}/"):
            return False
        parts = path[len(self.root) + 1 :].split("/")
        if self._layout is Layout.DIALOGUE:
            return parts[0] in (INBOXES, ARCHIVE, MANIFEST)
        return parts[0] == REGISTRY_NAME or (len(parts) > 1 and parts[1] in (INBOXES, PROCESSED))


def _check(name: str) -> None:
    if not is_folder_name(name):
        raise Invalid("file or folder name", name, "it would lead out of its folder, or is hidden")
