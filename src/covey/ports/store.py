"""The store: the authoritative records of a space, and the transactions that change them."""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar

from covey.core.names import Topic
from covey.ports.channels import Bindings, Posts
from covey.ports.directory import Agents, Sessions, Settings, Tokens
from covey.ports.ledger import Deliveries, Inboxes, Journal, Messages, Offers, Tickets
from covey.ports.pruning import PrunedIds, RetentionQueries
from covey.ports.work import Flows, Runs, Tasks, Trees, Waits

T = TypeVar("T")


class Survives(StrEnum):
    """The durability of an accepted message: the failure that it survives."""

    NOTHING = "nothing"
    """None: a message is lost when the process ends."""
    PROCESS = "process"
    """The death of any process; a power cut may lose the newest messages."""
    MACHINE = "machine"
    """A power cut too."""
    NODE = "node"
    """The loss of a machine."""


class Capabilities(NamedTuple):
    """The declared differences between engines."""

    survives: Survives
    shared: bool
    """True if several processes can open the space at once."""
    searchable: bool
    """True if `Search` finds messages by their words."""


class Transaction(Protocol):
    """A consistent view of all records of a space. A transaction reads its own writes.

    Records that are returned oldest first and have the same time are in the order in which they were first put.
    """

    @property
    def directory_version(self) -> int:
        """The version of the directory that this transaction sees. Different transactions see different versions,
        except that operations that become durable together may share one, until one of them changes an agent, a
        session or a setting: then the version changes.

        It is the key for caches of facts about agents, sessions and settings, such as the route of a message. Only the
        store knows when such a record has changed, also by another process; without the version every send would look
        for its recipient and that recipient's sessions again."""
        ...

    @property
    def visible(self) -> "Transaction":
        """The same records, limited to those that the actor may see. Use it for records that a caller names by id. It
        has all records, unless the store is limited to the holder of an agent's token."""
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
    def retention(self) -> RetentionQueries: ...
    @property
    def pruned(self) -> PrunedIds: ...

    def ring(self, topic: Topic) -> None:
        """Ring `topic` once this transaction is durable, before `commit` returns. If the commit fails, do not ring."""
        ...


Operation = Callable[[Transaction], Awaitable[T]]


class Store(Protocol):
    """Transactions over one space.

    Every adapter passes `covey.testing.contracts.StoreContract`. Any method may raise a subclass of `Unavailable`. Safe
    for several tasks at once, and for several processes where the engine is `shared`.
    """

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of this engine."""
        ...

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        """Run `operation` and make all its writes durable atomically. If it raises, nothing is written.

        Commits are serial: each sees all earlier ones. An operation may be run more than once before its result counts,
        so it must touch nothing but the transaction, and await nothing but the transaction's methods. Set `is_long` for
        an operation that may touch many records, so that an engine can run it away from the event loop.

        One that `is_light` need not wait for the disk: it is there for everyone when this returns and outlives every
        process, but a power cut may lose it, with all that came after it and was light too. It is for changes that
        would be made again then, or mean nothing any more, such as the end of a wait. Only the caller knows that a
        change may be lost, so it is an argument here and no setting of an engine. An engine may ignore it.
        """
        ...

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        """Run `operation` on one consistent view that has at least everything that was committed before the call. The
        operation must not write. `is_long` means the same as for `commit`.

        If a space is on several machines, a program that keeps the space open may see a commit of another machine a
        moment later, but before its wake-up rings; a `commit` always sees it."""
        ...

    async def close(self) -> None:
        """Finish pending work and release all resources. Closing again does nothing; any other call raises
        StoreClosed."""
        ...
