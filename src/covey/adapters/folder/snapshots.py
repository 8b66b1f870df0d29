"""Snapshots of file parts for foreign programs. These open a file by its path, so each copy of a message has its own
snapshot."""

import os
from typing import Final

from covey.adapters.folder import atomic
from covey.adapters.folder.judging import is_usable, stands
from covey.core.formats.foreign_ids import is_folder_name

FILES: Final = "files"
"""The folder beside an agent's inbox. It has one folder for each message with file parts."""
NAMELESS: Final = "file"
_MODE: Final = 0o400


def keep(root: str, owner: str, file_id: str, name: str, content: bytes) -> str | None:
    """Write a snapshot, unless it exists, and return its path; None if its folder can't be used."""
    name = name if is_folder_name(name) else NAMELESS
    steps = (owner, FILES, file_id)
    if not all(map(is_folder_name, steps)) or not is_usable(root, "/".join(steps), is_made=False):
        return None
    path = f"{root}/{owner}/{FILES}/{file_id}/{name}"
    if not os.path.lexists(path):
        atomic.make_folders(root, *steps)
        atomic.write(path, content, _MODE)
    return os.path.abspath(path)


def discard(root: str, owner: str, file_id: str) -> None:
    """Remove the snapshots of a message copy."""
    folder = f"{owner}/{FILES}/{file_id}"
    if all(map(is_folder_name, (owner, file_id))) and stands(root, folder):
        import shutil  # here because it takes time to load, and few messages are pruned

        shutil.rmtree(f"{root}/{folder}", ignore_errors=True)
