"""A space that a test moves about: opened on either store, with all that an export and an import need."""

from collections.abc import Sequence
from pathlib import Path

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore, MemoryViews
from covey.adapters.sqlite.care.views import SqliteViews
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.adapters.system.files import RootedFiles
from covey.adapters.system.ids import SystemIds
from covey.adapters.system.store_files import StoreFiles
from covey.core.address import parse_address
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Part, TextPart
from covey.core.names import AgentName, Scope
from covey.ports.blobs import Blobs
from covey.ports.store import Store
from covey.ports.views import Views
from covey.services.adapters import Adapters
from covey.services.directory.directory import JoinRequest
from covey.services.mail.looking import Item
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.services.space import Services
from covey.services.transfer.import_ import Imported
from covey.testing.fakes import HandClock
from tests.properties.nursery import Nursery
from tests.properties.world import NobodyRings, finish
from tests.services.transferring import exported, imported


class Space:
    """One process that has a space open. Ids are random, so that two spaces never have the same."""

    def __init__(self, store: Store, views: Views, blobs: Blobs | None = None) -> None:
        self.store = store
        self.views = views
        self.kept = MemoryBlobs()
        """Where contents of files are, unless they are put elsewhere."""
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

    def take_in(self, lines: Sequence[bytes]) -> Imported:
        """Import what another has exported."""
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
        """Send a message; whom nobody knows is known then."""
        draft = Draft(
            kind,
            (parse_address(to),),
            tuple(TextPart(part) if isinstance(part, str) else part for part in parts),
            expects_reply=kind is Kind.REQUEST,
            scope=Scope(scope),
            in_reply_to=answers,
        )
        return finish(self.services.mail.send(draft, sender, SendPolicy(when_unknown=WhenUnknown.REGISTER))).message_id

    def inbox(self, name: AgentName) -> Sequence[Item]:
        """Return what waits for an agent."""
        return finish(self.services.looking.peek(name))


def in_memory(store: MemoryStore | None = None) -> Space:
    """Return a new space in memory."""
    store = store or MemoryStore()
    return Space(store, MemoryViews(store))


def in_sqlite(path: Path, blobs: Blobs | None = None) -> Space:
    """Return the space at a path. What a power cut would lose does not matter here."""
    return Space(SqliteStore(path, synchronous="normal"), SqliteViews(path), blobs)
