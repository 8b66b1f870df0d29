"""The ports of one space, together."""

from typing import Protocol

from covey.core.names import AgentName
from covey.ports.blobs import Blobs, Files
from covey.ports.channels import Wire
from covey.ports.clock import Clock, Ids, Wakeups
from covey.ports.directory import Liveness
from covey.ports.folder import SharedArchive
from covey.ports.ledger import Search
from covey.ports.store import Store


class Ports(Protocol):
    """The adapters that a space is made on, one for each role."""

    @property
    def store(self) -> Store: ...
    @property
    def wakeups(self) -> Wakeups: ...
    @property
    def blobs(self) -> Blobs: ...
    @property
    def search(self) -> Search: ...
    @property
    def liveness(self) -> Liveness: ...
    @property
    def files(self) -> Files: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def ids(self) -> Ids: ...
    @property
    def author(self) -> AgentName | None:
        """The agent whose credentials the store takes, where it vouches for who writes; it counts as its token."""
        ...

    @property
    def wire(self) -> Wire | None:
        """The wire to programs that know only the subjects of inboxes; None where the engine has none."""
        ...

    @property
    def shared_archive(self) -> SharedArchive | None:
        """The archive that programs of others move files into; None where there is none."""
        ...

    async def close(self) -> None:
        """Let go of every adapter, in the order in which they depend on each other."""
        ...
