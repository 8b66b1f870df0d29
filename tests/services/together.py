"""Several things that become durable together: what one does counts for the next."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch
from covey.adapters.system.files import RootedFiles
from covey.adapters.system.store_files import StoreFiles
from covey.core.address import parse_address
from covey.core.ledger.draft import Draft, compose
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.receipt import Receipt
from covey.core.ledger.wire import encode
from covey.core.names import AgentName
from covey.ports.store import Store, Transaction
from covey.services.act import Act
from covey.services.adapters import Adapters
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
    """Ann and bob, who are there."""

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
        """Do several things in one transaction."""

        async def operation(tx: Transaction) -> list[T]:
            act = Act(tx, self.ann.identity, self.clock.now())
            return [await step(act) for step in steps]

        return finish(self.store.commit(operation))

    async def send(self, act: Act, to: str = "bob", kind: Kind = Kind.NOTIFY, **fields: Any) -> Receipt:
        """Have a message accepted; `fields` are those of the message that are to be others."""
        draft = Draft(kind, (parse_address(to),), (TextPart("text"),), expects_reply=kind is Kind.REQUEST)
        message = compose(draft, act.actor, self.ids.message_id(act.now), act.now)._replace(**fields)
        receipt = await self.acceptance.accept(act, message, encode(message), SendPolicy(), None, [])
        assert isinstance(receipt, Receipt)
        return receipt
