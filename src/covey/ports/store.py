"""The store: where a space keeps its truth, and the transactions that change it."""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar

from covey.core.ids import Topic
from covey.ports.directory import Agents, Sessions, Settings, Tokens
from covey.ports.flows import Flows
from covey.ports.journal import Journal
from covey.ports.ledger import Deliveries, Inboxes, Messages, Offers, Tickets
from covey.ports.posts import Bindings, Posts
from covey.ports.pruning import Holdings, Pruned
from covey.ports.runs import Runs
from covey.ports.tasks import Tasks
from covey.ports.trees import Trees
from covey.ports.waits import Waits

T = TypeVar("T")


class Survives(StrEnum):
    """What an accepted message survives on an engine."""

    NOTHING = "nothing"
    """It lives as long as the process."""
    PROCESS = "process"
    """The death of any process; a power cut may lose the newest."""
    MACHINE = "machine"
    """A power cut too."""
    NODE = "node"
    """The loss of a machine."""


class Capabilities(NamedTuple):
    """In what engines differ, declared."""

    survives: Survives
    shared: bool
    """Several processes can open the space at once."""
    searchable: bool
    """`Search` finds messages by their words."""


class Transaction(Protocol):
    """All records of a space at one moment. What one transaction writes it also reads.

    Where records are given oldest first, those of the same time stand as they were first put.
    """

    @property
    def moment(self) -> int:
        """The number of that moment. No other moment of the store has it. Operations that become durable together may
        see the same number, until one of them changes an agent, a session or a setting: then the number is another.

        It is the key for caches of facts about agents, sessions and settings, such as the route of a message. Only the
        store knows when such a record has changed, also by another process; without the number every send would look
        for its recipient and that recipient's sessions again."""
        ...

    @property
    def visible(self) -> "Transaction":
        """The same records, as far as whoever acts may see them: for what a caller names by its id. All of them, unless
        the store was narrowed to the holder of an agent's token."""
        ...

    @property
    def agents(self) -> Agents: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def tokens(self) -> Tokens: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def messages(self) -> Messages: ...
    @property
    def deliveries(self) -> Deliveries: ...
    @property
    def inboxes(self) -> Inboxes: ...
    @property
    def offers(self) -> Offers: ...
    @property
    def tickets(self) -> Tickets: ...
    @property
    def tasks(self) -> Tasks: ...
    @property
    def runs(self) -> Runs: ...
    @property
    def trees(self) -> Trees: ...
    @property
    def flows(self) -> Flows: ...
    @property
    def waits(self) -> Waits: ...
    @property
    def posts(self) -> Posts: ...
    @property
    def bindings(self) -> Bindings: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def holdings(self) -> Holdings: ...
    @property
    def pruned(self) -> Pruned: ...

    def ring(self, topic: Topic) -> None:
        """Ring `topic` once this transaction is durable, before `commit` returns; never, if it is not."""
        ...


Operation = Callable[[Transaction], Awaitable[T]]


class Store(Protocol):
    """Transactions over one space.

    Every adapter passes `covey.testing.contracts.StoreContract`. Any method may raise a subclass of `Unavailable`. Safe
    for several tasks at once, and for several processes where the engine is `shared`.
    """

    @property
    def capabilities(self) -> Capabilities:
        """What this engine can do."""
        ...

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        """Run `operation` and make all that it wrote durable at once, or, when it raises, nothing.

        Commits are serial: each sees all that were before it. An operation may be run more than once before its result
        counts, so it touches nothing but the transaction. It awaits nothing but the transaction's own methods.
        One that may touch many records says `is_long`, so that an engine can keep it away from the event loop.

        One that `is_light` need not wait for the disk: it is there for everyone when this returns and outlives every
        process, but a power cut may lose it, with all that came after it and was light too. It is for changes that
        would be made again then, or mean nothing any more, such as the end of a wait. Only the caller knows that a
        change may be lost, so it is an argument here and no setting of an engine. An engine may ignore it.
        """
        ...

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        """Run `operation` on one consistent view that holds at least all that was committed before the call. It must
        not write. `is_long` means the same as for `commit`.

        Where a space lives on several machines, what another one has committed may come a moment later to a program
        that keeps the space open, before it rings there; a commit never misses it."""
        ...

    async def close(self) -> None:
        """Finish what was begun and let go. Closing again does nothing; anything else afterwards is StoreClosed."""
        ...
