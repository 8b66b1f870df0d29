"""A shared folder for tests: a foreign program's writes, and the view of a visitor."""

import json
import os
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from covey.adapters.folder.disk_layout import folder_of, suffix_of
from covey.adapters.folder.entries import RACY_NS
from covey.adapters.folder.folder import FilesFolder
from covey.core.coroutine import finish
from covey.core.formats.layout import FilePlace, KnownFile, Layout, Shelf
from covey.core.names import AgentName, MessageId
from covey.ports.folder import FolderChanges, Visit, WantedFile

T = TypeVar("T")

LIMIT_S = 10.0
ALL = 1000


def message_id(n: int) -> MessageId:
    return MessageId(f"{1730000000000 + n}-00000000-0000-4000-8000-{n:012x}")


def content(n: int) -> bytes:
    return json.dumps({"id": message_id(n), "body": f"hello {n}"}).encode()


class Desk:
    """One process's view of the folder."""

    def __init__(self, root: Path, layout: Layout) -> None:
        (root / ".covey").mkdir(parents=True, exist_ok=True)
        self.root = root
        self.layout = layout
        self.folder = FilesFolder(str(root), layout)

    def spot(self, n: int, shelf: Shelf = Shelf.INBOX, owner: str = "bob", scope: str = "") -> FilePlace:
        is_shared = shelf is not Shelf.INBOX and self.layout is Layout.DIALOGUE
        return FilePlace(shelf, "" if is_shared else owner, f"{message_id(n)}{suffix_of(self.layout)}", scope)

    def known(self, n: int, shelf: Shelf = Shelf.INBOX, owner: str = "bob", scope: str = "") -> KnownFile:
        spot = self.spot(n, shelf, owner, scope)
        return KnownFile(message_id(n), message_id(n), AgentName(owner), spot, is_ours=True)

    def sheet(self, n: int, shelf: Shelf = Shelf.INBOX, owner: str = "bob", scope: str = "") -> WantedFile:
        return WantedFile(self.known(n, shelf, owner, scope), content(n))

    def path(self, spot: FilePlace) -> Path:
        return self.root / folder_of(self.layout, spot) / spot.name

    def put(self, spot: FilePlace, text: bytes) -> Path:
        """Put a file as a foreign program does: write a temporary file, and rename it."""
        path = self.path(spot)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.part")
        unfinished.write_bytes(text)
        unfinished.rename(path)
        return path

    def move(self, there: FilePlace, to: FilePlace) -> None:
        """Move a file as a foreign program does when it is done with a message."""
        self.path(to).parent.mkdir(parents=True, exist_ok=True)
        self.path(there).rename(self.path(to))

    def during(self, visit: Callable[[Visit], Coroutine[Any, Any, T]]) -> T:
        """Return the result of a visit."""

        async def run() -> T:
            async with self.folder.visit(LIMIT_S) as there:
                return await visit(there)

        return finish(run())

    def look(self, limit: int = ALL) -> FolderChanges:
        return self.during(lambda visit: visit.look(limit))

    def note(self, sighting: FolderChanges) -> None:
        """Note the arrived files, each as a separate message."""
        self.during(lambda visit: note(visit, sighting))

    def take_in(self, limit: int = ALL) -> FolderChanges:
        """Look and note in one visit."""

        async def run(visit: Visit) -> FolderChanges:
            sighting = await visit.look(limit)
            await note(visit, sighting)
            return sighting

        return self.during(run)

    def bring(self, *sheets: WantedFile) -> None:
        self.during(lambda visit: visit.bring(sheets))

    def files(self) -> Mapping[str, bytes]:
        """Return all files that a foreign reader would take for messages, by path."""
        found: dict[str, bytes] = {}
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                path = Path(folder, name)
                if name.endswith(suffix_of(self.layout)) and not name.startswith(("_", ".")):
                    found[str(path.relative_to(self.root))] = path.read_bytes()
        return found

    def temporaries(self) -> Sequence[str]:
        return [path.name for path in self.root.rglob(".covey-*.tmp")]

    def settle(self) -> None:
        """Look until there is no news, and make the last changes old enough to be distinguished from later ones."""
        for folder, folders, _ in os.walk(self.root):
            folders[:] = [name for name in folders if name != ".covey"]
            age(Path(folder))
        while self.folder.has_news():
            sighting = self.take_in()
            assert not sighting.left

    def reopen(self) -> None:
        """Continue as another process would."""
        self.close()
        self.folder = FilesFolder(str(self.root), self.layout)

    def close(self) -> None:
        finish(self.folder.close())


async def note(visit: Visit, sighting: FolderChanges) -> None:
    known = [
        KnownFile(
            arrived.spot.name, MessageId(arrived.digest), AgentName(arrived.spot.owner), arrived.spot, is_ours=False
        )
        for arrived in sighting.arrived
    ]
    await visit.note(known, {arrived.spot: arrived.digest for arrived in sighting.arrived})


def age(path: Path, by_ns: int = 4 * RACY_NS) -> None:
    """Set the modification time of a folder back, unless it is old enough."""
    status = path.stat()
    if time.time_ns() - status.st_mtime_ns < by_ns:
        os.utime(path, ns=(status.st_atime_ns, time.time_ns() - by_ns))
