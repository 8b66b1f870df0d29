"""A shared folder on a desk: what a test puts there, and what a visitor sees."""

import json
import os
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from covey.adapters.folder.folder import FilesFolder
from covey.adapters.folder.freshness import RACY_NS
from covey.adapters.folder.shelves import folder_of, suffix_of
from covey.core.drive import finish
from covey.core.formats.layout import KnownFile, Layout, Shelf, Spot
from covey.core.ids import MessageId
from covey.core.names import AgentName
from covey.ports.folder import Sheet, Sighting, Visit

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

    def spot(self, n: int, shelf: Shelf = Shelf.INBOX, owner: str = "bob", scope: str = "") -> Spot:
        is_shared = shelf is not Shelf.INBOX and self.layout is Layout.DIALOGUE
        return Spot(shelf, "" if is_shared else owner, f"{message_id(n)}{suffix_of(self.layout)}", scope)

    def known(self, n: int, shelf: Shelf = Shelf.INBOX, owner: str = "bob", scope: str = "") -> KnownFile:
        spot = self.spot(n, shelf, owner, scope)
        return KnownFile(message_id(n), message_id(n), AgentName(owner), spot, is_ours=True)

    def sheet(self, n: int, shelf: Shelf = Shelf.INBOX, owner: str = "bob", scope: str = "") -> Sheet:
        return Sheet(self.known(n, shelf, owner, scope), content(n))

    def path(self, spot: Spot) -> Path:
        return self.root / folder_of(self.layout, spot) / spot.name

    def put(self, spot: Spot, text: bytes) -> Path:
        """Do what a foreign program does: write beside, and rename."""
        path = self.path(spot)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.part")
        unfinished.write_bytes(text)
        unfinished.rename(path)
        return path

    def move(self, there: Spot, to: Spot) -> None:
        """Do what a foreign program does when it is done with a message."""
        self.path(to).parent.mkdir(parents=True, exist_ok=True)
        self.path(there).rename(self.path(to))

    def during(self, visit: Callable[[Visit], Coroutine[Any, Any, T]]) -> T:
        """Return what comes of a visit."""

        async def run() -> T:
            async with self.folder.visit(LIMIT_S) as there:
                return await visit(there)

        return finish(run())

    def look(self, limit: int = ALL) -> Sighting:
        return self.during(lambda visit: visit.look(limit))

    def note(self, sighting: Sighting) -> None:
        """Take in what has arrived, each as a message of its own."""
        self.during(lambda visit: note(visit, sighting))

    def take_in(self, limit: int = ALL) -> Sighting:
        """Look, and take in, in one visit."""

        async def run(visit: Visit) -> Sighting:
            sighting = await visit.look(limit)
            await note(visit, sighting)
            return sighting

        return self.during(run)

    def bring(self, *sheets: Sheet) -> None:
        self.during(lambda visit: visit.bring(sheets))

    def files(self) -> Mapping[str, bytes]:
        """Return everything that a foreign reader would take for a message, by path."""
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
        """Look until nothing is new, and the last changes are old enough to be told from later ones."""
        for folder, folders, _ in os.walk(self.root):
            folders[:] = [name for name in folders if name != ".covey"]
            age(Path(folder))
        while self.folder.has_news():
            sighting = self.take_in()
            assert not sighting.left

    def reopen(self) -> None:
        """Go on as another process would."""
        self.close()
        self.folder = FilesFolder(str(self.root), self.layout)

    def close(self) -> None:
        finish(self.folder.close())


async def note(visit: Visit, sighting: Sighting) -> None:
    known = [
        KnownFile(
            arrived.spot.name, MessageId(arrived.digest), AgentName(arrived.spot.owner), arrived.spot, is_ours=False
        )
        for arrived in sighting.arrived
    ]
    await visit.note(known, {arrived.spot: arrived.digest for arrived in sighting.arrived})


def age(path: Path, by_ns: int = 4 * RACY_NS) -> None:
    """Let a folder have been changed a while ago."""
    status = path.stat()
    if time.time_ns() - status.st_mtime_ns < by_ns:
        os.utime(path, ns=(status.st_atime_ns, time.time_ns() - by_ns))
