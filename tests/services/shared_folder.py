"""A folder that a space shares with foreign programs. Everything runs in the calling thread."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

from covey.adapters.folder.disk_layout import prepare
from covey.adapters.folder.folder import FilesFolder
from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryWakeups
from covey.adapters.sqlite.care.views import SqliteViews
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.adapters.system.clock import SystemClock
from covey.adapters.system.files import RootedFiles, StoreFiles
from covey.adapters.system.ids import SystemIds
from covey.core.formats.layout import Layout
from covey.core.identity import Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Message, TextPart
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.names import AgentName, MessageId
from covey.core.reporting import Report, report_nothing
from covey.engines.adapters import Adapters
from covey.ports.folder import Folder, Visit
from covey.ports.ledger import MessageFilter
from covey.services.care.audit import Audit
from covey.services.mail.filing import NoticePorts
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.services.mirror.mirror import LIMIT_S, Mirror
from covey.services.mirror.store import InlinePasses, MirroredStore
from covey.services.space import Services
from covey.testing import silent
from covey.testing.factories import closing


class Killed(BaseException):
    """The simulated death of the process."""


class DyingFolder:
    """A folder whose visitor dies when it calls one of the methods, before or after the method has done its work."""

    def __init__(self, folder: FilesFolder, method: str, *, after: bool) -> None:
        self._folder = folder
        self._method = method
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._folder, name)

    def visit(self, limit_s: float) -> AbstractAsyncContextManager[Visit]:
        return self._visiting(limit_s)

    @asynccontextmanager
    async def _visiting(self, limit_s: float) -> AsyncGenerator[Any]:
        async with self._folder.visit(limit_s) as visit:
            yield _DyingVisit(visit, self._method, self._after)


class _DyingVisit:
    def __init__(self, visit: Visit, method: str, after: bool) -> None:
        self._visit = visit
        self._method = method
        self._after = after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._visit, name)
        if name != self._method:
            return found

        async def die(*arguments: Any, **named: Any) -> None:
            if self._after:
                await found(*arguments, **named)
            raise Killed

        return die


class Shared:
    """A process that has the space open, and the folder as foreign programs see it."""

    def __init__(
        self,
        root: Path,
        layout: Layout,
        dying: tuple[str, bool] | None = None,
        limit_s: float = LIMIT_S,
        report: Report = report_nothing,
    ) -> None:
        self.root = root
        self.layout = layout
        prepare(str(root), layout)
        self.ledger = SqliteStore(root / ".covey" / "covey.db", synchronous="normal", ring=silent)
        self.folder = FilesFolder(str(root), layout)
        dead = None if dying is None else DyingFolder(self.folder, dying[0], after=dying[1])
        folder = self.folder if dead is None else cast(Folder, dead)
        clock, ids, liveness = SystemClock(), SystemIds(), MemoryLiveness()
        self.mirror = Mirror(self.ledger, folder, clock, NoticePorts(ids, liveness), limit_s, report)
        self.store = MirroredStore(self.ledger, folder, InlinePasses(folder, lambda: self.mirror))
        self.views = SqliteViews(root / ".covey" / "covey.db")
        self.blobs = MemoryBlobs()
        self.services = Services(
            Adapters(
                store=self.store,
                wakeups=MemoryWakeups(),
                blobs=self.blobs,
                search=MemorySearch(self.store),
                liveness=liveness,
                files=RootedFiles((), StoreFiles()),
                clock=clock,
                ids=ids,
            )
        )

    async def close(self) -> None:
        await self.store.close()

    # Operations of Covey's own programs.

    async def send(self, sender: str, to: str, text: str, **fields: Any) -> ReceiptRecord:
        fields = {"kind": Kind.NOTIFY, **fields}
        draft = Draft(to=tuple(map(parse_address, to.split())), parts=(TextPart(text),), **fields)
        policy = SendPolicy(when_unknown=WhenUnknown.REGISTER)
        return await self.services.mail.send(draft, Identity(AgentName(sender)), policy)

    async def ask(self, sender: str, to: str, text: str, **fields: Any) -> MessageId:
        asked = await self.send(sender, to, text, kind=Kind.REQUEST, expects_reply=True, **fields)
        return asked.message_id

    async def messages(self) -> Sequence[Message]:
        return await self.store.read(lambda tx: tx.messages.find(MessageFilter(), 100_000))

    async def inbox(self, agent: str) -> Sequence[str]:
        """Return the texts of the unarchived messages of an agent."""
        items = await self.services.dialogue.unarchived(AgentName(agent))
        return [item.message.text for item in items]

    async def faults(self) -> Sequence[object]:
        return await Audit(self.store).check()

    # Views and operations of foreign programs.

    def paths(self) -> list[str]:
        """Return the paths of all message files, relative to the root."""
        found = [p.relative_to(self.root) for p in self.root.rglob("*.json") if p.name != "_registry.json"]
        return sorted(str(path) for path in found if not str(path).startswith(".covey"))

    def read(self, pattern: str) -> dict[str, Any]:
        """Return the content of the one file that matches."""
        (path,) = self.root.glob(pattern)
        return json.loads(path.read_bytes())

    def drop(self, path: str, content: Mapping[str, Any] | bytes) -> Path:
        """Put a file into the folder."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return place

    def move(self, pattern: str, target: str) -> None:
        """Move the one file that matches into another folder."""
        (path,) = self.root.glob(pattern)
        (self.root / target).mkdir(parents=True, exist_ok=True)
        path.rename(self.root / target / path.name)

    def manifest(self) -> list[dict[str, Any]]:
        path = self.root / "manifest.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def registry(self) -> dict[str, Any]:
        return json.loads((self.root / "_registry.json").read_bytes())


def opened(
    root: Path,
    layout: Layout,
    dying: tuple[str, bool] | None = None,
    limit_s: float = LIMIT_S,
    report: Report = report_nothing,
) -> AbstractAsyncContextManager[Shared]:
    """Open the folder as a process does. A pass waits up to `limit_s` seconds for other processes."""
    return closing(Shared(root, layout, dying, limit_s, report))


def letter(n: int, sender: str, to: str, body: str, **fields: Any) -> dict[str, Any]:
    """Return a message in the format of agent loops."""
    return {
        "id": f"17300000{n:05d}-9b3e0000-0000-4000-8000-{n:012d}",
        "from": sender,
        "to": to,
        "phase": None,
        "round": None,
        "kind": "notify",
        "subject": None,
        "body": body,
        "expects_reply": False,
        "in_reply_to": None,
        "created_at": f"2026-05-08T10:00:{n % 60:02d}Z",
        **fields,
    }


def note(n: int, sender: str, to: str, text: str, **fields: Any) -> dict[str, Any]:
    """Return a message in the format of mailboxes."""
    return {
        "id": f"msg_{1745659200 + n}_{sender}",
        "from": sender,
        "to": to,
        "timestamp": f"2026-04-26T10:00:{n % 60:02d}Z",
        "type": "message",
        "ttl": 3,
        "trace": [sender],
        "task": None,
        "content": {"parts": [{"type": "text", "text": text}]},
        "callback": {},
        "reply_to": None,
        "metadata": {},
        **fields,
    }
