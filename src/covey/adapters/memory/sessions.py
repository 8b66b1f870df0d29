"""Sessions in memory; those that have ended stand on no shelf."""

from collections.abc import Callable, Iterable, Sequence

from covey.adapters.memory.table import Order, Shelf, Table
from covey.adapters.memory.undo import UndoLog
from covey.core.ids import SessionId
from covey.core.names import AgentName, Label
from covey.core.session import Session
from covey.core.session_key import SessionKey


def _places(session: Session) -> Iterable[tuple[Shelf, Order]]:
    if session.has_ended:
        return
    yield "current", session.joined_at
    yield ("agent", session.agent), session.joined_at
    yield session.key, session.joined_at
    if session.label is not None:
        yield ("label", session.label), session.joined_at


class MemorySessions:
    def __init__(self, log: UndoLog, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.table = Table[SessionId, Session](log, _places)

    async def get(self, session_id: SessionId) -> Session | None:
        return self.table.get(session_id)

    async def put(self, session: Session) -> None:
        self.table.put(session.id, session)
        self._changed()

    async def of_agent(self, agent: AgentName) -> Sequence[Session]:
        return self.table.on(("agent", agent))

    async def with_key(self, key: SessionKey) -> Sequence[Session]:
        return self.table.on(key)

    async def with_label(self, label: Label) -> Sequence[Session]:
        return self.table.on(("label", label))

    async def current(self) -> Sequence[Session]:
        return self.table.on("current")
