"""The folders of mailboxes: waiting files of an agent, written atomically, read with checks, and moved when done."""

import os
from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.adapters.folder import atomic, judging
from covey.adapters.folder.registry import Registry
from covey.adapters.folder.trouble import explained
from covey.core.formats.mailbox import ENDING

INBOX: Final = "inbox"
PROCESSED: Final = "processed"


class WaitingMail(NamedTuple):
    """A file in an inbox."""

    name: str
    written_at: float
    """The time of the last change, in seconds since 1970."""
    content: bytes = b""
    problem: str = ""
    """The reason if there is no content."""


class Mailboxes:
    """The mailboxes under a root, which is made with the first folder in it. Safe for several threads and processes."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.registry = Registry(root)

    def prepare(self, agent: str) -> None:
        """Make the folders of an agent."""
        with explained(self._root):
            self._folder(agent, INBOX)
            self._folder(agent, PROCESSED)

    def put(self, agent: str, name: str, content: bytes) -> None:
        """Put a file into an inbox. The file is complete and durable when this returns."""
        with explained(self._root):
            atomic.write(f"{self._folder(agent, INBOX)}/{name}", content)

    def waiting(self, agent: str) -> Sequence[WaitingMail]:
        """Return the files in an inbox that have the name of a message, sorted by name."""
        folder = f"{self._root}/{agent}/{INBOX}"
        try:
            names = os.listdir(folder)
        except FileNotFoundError:
            return ()
        except OSError:
            with explained(folder):
                raise
        atomic.remove_leftovers(folder, names)
        found = (_read(folder, name) for name in sorted(names) if is_message_name(name))
        return [file for file in found if file is not None]

    def has(self, agent: str, name: str) -> bool:
        """Tell whether a file is in an inbox."""
        return os.path.lexists(f"{self._root}/{agent}/{INBOX}/{name}")

    def settle(self, agent: str, name: str) -> bool:
        """Move a file from the inbox to the processed files; return False if the file is not in the inbox. If a
        processed file has the same name, that file stays, and the moved one gets a number."""
        source = f"{self._root}/{agent}/{INBOX}/{name}"
        with explained(self._root):
            if not self.has(agent, name):
                return False
            folder = self._folder(agent, PROCESSED)
            try:
                atomic.move_all([(source, f"{folder}/{_free_name(folder, name)}")])
            except FileNotFoundError:
                return False  # another process was faster
            return True

    def _folder(self, *names: str) -> str:
        os.makedirs(self._root, mode=0o700, exist_ok=True)
        return atomic.make_folders(self._root, *names)


def is_message_name(name: str) -> bool:
    """Tell whether a file in an inbox has the name of a message."""
    return name.endswith(ENDING) and not name.startswith(".")


def _read(folder: str, name: str) -> WaitingMail | None:
    """Return a file, or None if it is gone."""
    path = f"{folder}/{name}"
    found = judging.read(path)
    if isinstance(found, judging.Content):
        return WaitingMail(name, found.status.st_mtime, found.content)
    try:
        return None if found is None else WaitingMail(name, os.lstat(path).st_mtime, problem=judging.PROBLEMS[found])
    except FileNotFoundError:
        return None


def _free_name(folder: str, name: str) -> str:
    number, free = 2, name
    while os.path.lexists(f"{folder}/{free}"):
        free = f"{name.removesuffix(ENDING)}-{number}{ENDING}"
        number += 1
    return free
