"""Several operations in one transaction: each one sees the effects of those before."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch
from covey.adapters.system.files import RootedFiles, StoreFiles
from covey.core.identity import parse_address
from covey.core.ledger.draft import Draft, compose
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.ledger.wire import encode
from covey.core.names import AgentName
from covey.engines.adapters import Adapters
from covey.ports.store import Store, Transaction
from covey.services.act import Act
from covey.services.directory.directory import Joined, JoinRequest
from covey.services.mail.acceptance import Acceptance
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services
from covey.testing.fakes import CountingIds, HandClock
from tests.properties.world import NobodyRings, finish

T = TypeVar("T")

Step = Callable[[Act], Awaitable[T]]

ANN, BOB = AgentName("ann"), AgentName("bob")


class World:
    """A space with live sessions of ann and bob."""

    def __init__(self, store: Store, liveness: MemoryLiveness) -> None:
        self.store = store
        self.clock = HandClock()
        self.ids = CountingIds()
        self.acceptance = Acceptance(self.ids, liveness)
        blobs, search, files = MemoryBlobs(), MemorySearch(store), RootedFiles((), StoreFiles())
        self.space = Services(Adapters(store, NobodyRings(), blobs, search, liveness, files, self.clock, self.ids))
        self.ann, self.bob = self.join(ANN), self.join(BOB)

    def join(self, name: AgentName) -> Joined:
        return finish(self.space.directory.join(JoinRequest(name)))

    def together(self, *steps: Step[T]) -> list[T]:
        """Run several steps in one transaction."""

        async def operation(tx: Transaction) -> list[T]:
            act = Act(tx, self.ann.identity, self.clock.now())
            return [await step(act) for step in steps]

        return finish(self.store.commit(operation))

    async def send(self, act: Act, to: str = "bob", kind: Kind = Kind.NOTIFY, **fields: Any) -> ReceiptRecord:
        """Accept a message. `fields` replace fields of the composed message."""
        draft = Draft(kind, (parse_address(to),), (TextPart("text"),), expects_reply=kind is Kind.REQUEST)
        message = compose(draft, act.actor, self.ids.message_id(act.now), act.now)._replace(**fields)
        receipt = await self.acceptance.accept(act, message, encode(message), SendPolicy(), None, [])
        assert isinstance(receipt, ReceiptRecord)
        return receipt
