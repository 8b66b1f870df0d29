"""The layout of a shared folder on the disk: its record, its first files, and the paths of all others."""

import os
from contextlib import suppress
from typing import Final

from covey.adapters.folder.atomic import write
from covey.adapters.folder.entries import explained
from covey.core.errors import Invalid
from covey.core.formats.layout import REGISTRY_NAME, FilePlace, Layout, Shelf, is_folder_name
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


def folder_of(layout: Layout, spot: FilePlace) -> str:
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


LAYOUT_FILE: Final = "layout"
"""The file with the name of the layout, in the folder of the store."""

_MAILBOX_SIGNS: Final = ("_registry.json",)
_DIALOGUE_SIGNS: Final = ("manifest.jsonl", "inbox")


def layout_in(path: str) -> Layout | None:
    """Return the recorded layout of a folder; None if the folder is no files store."""
    with suppress(OSError, ValueError), open(os.path.join(path, STORE_FOLDER, LAYOUT_FILE), encoding="utf-8") as file:
        return Layout(file.read(100).strip())
    return None


def chosen(path: str, wanted: str | None) -> Layout:
    """Return the layout of a folder: the recorded one, otherwise the wanted one, otherwise the one that its files
    suggest. Raise Invalid if the recorded layout is not the wanted one, or if nothing determines a layout."""
    has = layout_in(path)
    if has is not None:
        if wanted is not None and wanted != has:
            raise Invalid("layout", wanted, f"the folder {path} has the layout {has}")
        return has
    found = Layout(wanted) if wanted is not None else _recognised(path)
    if found is None:
        raise Invalid("store", f"files:{path}", "choose a layout: ?layout=dialogue or ?layout=mailbox")
    return found


def prepare(path: str, layout: Layout) -> None:
    """Make the folder and the store's folder in it, and record the layout. New folders, and the store's folder, exclude
    themselves from version control. A folder that exists gets no such file."""
    hidden = os.path.join(path, STORE_FOLDER)
    if layout_in(path) is layout:
        return
    with explained(path):
        is_new = not os.path.isdir(path)
        os.makedirs(hidden, mode=0o700, exist_ok=True)
        if is_new:
            write(os.path.join(path, ".gitignore"), b"*\n")
        write(os.path.join(hidden, ".gitignore"), b"*\n")
        write(os.path.join(hidden, LAYOUT_FILE), f"{layout}\n".encode())


def _recognised(path: str) -> Layout | None:
    if any(os.path.lexists(os.path.join(path, sign)) for sign in _MAILBOX_SIGNS):
        return Layout.MAILBOX
    if any(os.path.lexists(os.path.join(path, sign)) for sign in _DIALOGUE_SIGNS):
        return Layout.DIALOGUE
    return None
