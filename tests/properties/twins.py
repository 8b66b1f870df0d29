"""Two spaces with the same story: every operation runs on both, and both must give the same result."""

import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from hypothesis.stateful import RuleBasedStateMachine, invariant

from covey.adapters.memory import MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.directory.session import Session
from covey.core.errors import CoveyError
from covey.core.identity import Grade, Identity
from covey.core.ledger.draft import Draft
from covey.core.names import OPERATOR, DeliveryId, MessageId, OfferId, TicketId
from covey.ports.store import Transaction
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services
from covey.testing.fakes import HandClock
from tests.properties.draws import NAMES
from tests.properties.progress import check_progress
from tests.properties.sameness import Known, Snapshot, comparable, snapshot
from tests.properties.task_rules import check_tasks
from tests.properties.world import World, finish

T = TypeVar("T")

THE_OPERATOR: Final = Identity(OPERATOR, None, Grade.TOKEN)


class NotPossible(Exception):
    """A move that is not possible yet."""


class Twins(RuleBasedStateMachine):
    """The base of all moves: the two spaces, and the ids that the story has used."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="covey-twins-"))
        self.clock = HandClock()
        # Durability after a power cut does not matter here, and fsync would take most of the time.
        durable = SqliteStore(self._folder / "covey.db", synchronous="normal")
        self.worlds = (World(MemoryStore(), self.clock), World(durable, self.clock))
        self.sessions: list[Session] = []
        self.messages: list[MessageId] = []
        self.offers: list[tuple[OfferId, Sequence[DeliveryId]]] = []
        self.tickets: list[TicketId] = []
        self.sent: list[tuple[Draft, Identity, SendPolicy]] = []
        self.before: Snapshot | None = None
        """The records after the last step."""

    def teardown(self) -> None:
        for world in self.worlds:
            finish(world.store.close())
        shutil.rmtree(self._folder)

    def both(self, do: Callable[[Services], Awaitable[T]], process: int = 0) -> T | None:
        """Run an operation on both spaces. Return their common result, or None if both refuse."""
        answers = [_attempt(do, world.processes[process].services) for world in self.worlds]
        first, second = (comparable(answer) for answer, _ in answers)
        assert first == second, f"memory answers\n  {first}\nand sqlite\n  {second}"
        return answers[0][1]

    @invariant()
    def both_are_sound(self) -> None:
        """Check that both have the same records, and that neither contradicts its journal, its rules or its past."""
        memory, durable = (finish(world.store.read(self.all_records)) for world in self.worlds)
        for field in Snapshot._fields:
            kept, written = getattr(memory, field), getattr(durable, field)
            assert kept == written, f"{field}: memory has\n  {kept}\nand sqlite\n  {written}"
        for world in self.worlds:
            found = finish(world.processes[0].services.audit.check())
            assert not found, "\n".join(str(disagreement) for disagreement in found)
        check_tasks(self.before, memory, self.clock.now())
        if self.before is not None:
            check_progress(self.before, memory)
        self.before = memory
        self.messages = list(memory.messages)
        self.tickets = list(memory.tickets)

    async def all_records(self, tx: Transaction) -> Snapshot:
        """Return all current records of a space."""
        return await snapshot(tx, Known([s.id for s in self.sessions], [offer for offer, _ in self.offers]))

    def actor(self, index: int) -> Identity:
        """Pick an actor: mostly a session, live or not; otherwise a claimed name, or the operator."""
        if self.sessions and index % 8 < 6:
            return self.member(index // 8)
        return THE_OPERATOR if index % 8 == 6 else Identity(NAMES[index % len(NAMES)])

    def member(self, index: int) -> Identity:
        """Pick a session, the newest first."""
        session = self.pick(self.sessions, index)
        return Identity(session.agent, session.id, Grade.SESSION)

    def message(self, index: int) -> MessageId:
        """Pick a message, the newest first."""
        return self.pick(self.messages, index)

    def recipient(self, message: int, index: int) -> Identity:
        """Pick one of the recipients of a message."""
        assert self.before is not None
        message_id = self.message(message)
        copies = [copy for copy in self.before.deliveries.values() if copy.message_id == message_id]
        copy = self.pick([copy for copy in copies if copy.agent is not None], index)
        assert copy.agent is not None
        return Identity(copy.agent, copy.session)

    def pick(self, things: Sequence[T], index: int) -> T:
        """Pick one of `things`, the newest first. Raise NotPossible if there is none."""
        if not things:
            raise NotPossible
        return things[-1 - index % len(things)]


def _attempt(do: Callable[[Services], Awaitable[T]], services: Services) -> tuple[object, T | None]:
    try:
        value = finish(do(services))
    except CoveyError as error:
        return (error.code, str(error)), None
    return value, value
