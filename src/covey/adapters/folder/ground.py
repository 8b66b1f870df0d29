"""The base of a files store: the layout of its folder, and the files that must exist before any others."""

import os
from contextlib import suppress
from typing import Final

from covey.adapters.folder.atomic import write
from covey.adapters.folder.trouble import explained
from covey.core.errors import Invalid
from covey.core.formats.layout import Layout
from covey.core.store_url import STORE_FOLDER

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
