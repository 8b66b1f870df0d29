"""A space on either store, with everything that exports and imports need."""

from collections.abc import Sequence
from pathlib import Path

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore, MemoryViews
from covey.adapters.sqlite.care.views import SqliteViews
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.adapters.system.files import RootedFiles, StoreFiles
from covey.adapters.system.ids import SystemIds
from covey.core.identity import Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Part, TextPart
from covey.core.names import AgentName, MessageId, Scope
from covey.engines.adapters import Adapters
from covey.ports.blobs import Blobs
from covey.ports.store import Store
from covey.ports.views import Views
from covey.services.directory.directory import JoinRequest
from covey.services.mail.inbox import InboxItem
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.services.space import Services
from covey.services.transfer.imports import ImportResult
from covey.testing.fakes import HandClock
from tests.properties.nursery import Nursery
from tests.properties.world import NobodyRings, finish
from tests.services.transferring import exported, imported


class Space:
    """A process that has a space open. Ids are random, so that two spaces never have the same ids."""

    def __init__(self, store: Store, views: Views, blobs: Blobs | None = None) -> None:
        self.store = store
        self.views = views
        self.kept = MemoryBlobs()
        """The contents of files, unless other blobs are given."""
        self.blobs = blobs or self.kept
        self.clock = HandClock()
        self.services = Services(
            Adapters(
                store=store,
                wakeups=NobodyRings(),
                blobs=self.blobs,
                search=MemorySearch(store),
                liveness=MemoryLiveness(),
                files=RootedFiles((), StoreFiles()),
                clock=self.clock,
                ids=SystemIds(),
            ),
            launching=lambda _: Nursery(),
        )

    def lines(self, *, with_tokens: bool = False) -> list[bytes]:
        """Return the space as an export."""
        return exported(self.services, self.views, with_tokens=with_tokens)

    def take_in(self, lines: Sequence[bytes]) -> ImportResult:
        """Import the export of another space."""
        return imported(self.services, lines)

    def join(self, name: AgentName) -> Identity:
        """Start a session."""
        return finish(self.services.directory.join(JoinRequest(name))).identity

    def send(
        self,
        sender: Identity,
        to: str,
        *parts: Part | str,
        kind: Kind = Kind.NOTIFY,
        scope: str = "s1",
        answers: MessageId | None = None,
    ) -> MessageId:
        """Send a message. An unknown recipient is registered."""
        draft = Draft(
            kind,
            (parse_address(to),),
            tuple(TextPart(part) if isinstance(part, str) else part for part in parts),
            expects_reply=kind is Kind.REQUEST,
            scope=Scope(scope),
            in_reply_to=answers,
        )
        return finish(self.services.mail.send(draft, sender, SendPolicy(when_unknown=WhenUnknown.REGISTER))).message_id

    def inbox(self, name: AgentName) -> Sequence[InboxItem]:
        """Return the pending messages of an agent."""
        return finish(self.services.inbox.peek(name))


def in_memory(store: MemoryStore | None = None) -> Space:
    """Return a new space in memory."""
    store = store or MemoryStore()
    return Space(store, MemoryViews(store))


def in_sqlite(path: Path, blobs: Blobs | None = None) -> Space:
    """Return the space at a path. Durability after a power cut does not matter here."""
    return Space(SqliteStore(path, synchronous="normal"), SqliteViews(path), blobs)
