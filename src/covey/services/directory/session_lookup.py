"""Session lookup: resolves an id, a key or a label, as an operation for callers that read more in the same
transaction."""

from covey.core.address import SessionKey, main_key
from covey.core.directory.session import Session
from covey.core.errors import LabelAmbiguous, SessionUnknown
from covey.core.ids import SessionId
from covey.core.names import Label
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Operation, Transaction
from covey.services.directory.presence import is_live
from covey.services.known import known_agent


class SessionLookup:
    def __init__(self, clock: Clock, liveness: Liveness) -> None:
        self._clock = clock
        self._liveness = liveness

    def by_id(self, session_id: SessionId) -> Operation[Session]:
        """Find a session, ended or not. Raise SessionUnknown if there is none."""

        async def operation(tx: Transaction) -> Session:
            session = await tx.sessions.get(session_id)
            if session is None:
                raise SessionUnknown(session_id)
            return session

        return operation

    def by_label(self, label: Label) -> Operation[Session]:
        """Find the one live session with a label. Raise SessionUnknown for none, LabelAmbiguous for several."""

        async def operation(tx: Transaction) -> Session:
            now = self._clock.now()
            live = [s for s in await tx.sessions.with_label(label) if is_live(s, self._liveness, now)]
            if not live:
                raise SessionUnknown(label)
            if len(live) > 1:
                raise LabelAmbiguous(label, [str(session.key) for session in live])
            return live[0]

        return operation

    def by_key(self, key: SessionKey) -> Operation[Session]:
        """Find the live session with a key; the bare main key means the oldest main session. Raise SessionUnknown for
        none, RecipientUnknown for an unknown agent."""

        async def operation(tx: Transaction) -> Session:
            now = self._clock.now()
            await known_agent(tx, key.agent)
            live = [s for s in await tx.sessions.of_agent(key.agent) if is_live(s, self._liveness, now)]
            is_bare = key == main_key(key.agent)
            found = [session for session in live if session.key == key or (is_bare and session.key.is_main)]
            if not found:
                raise SessionUnknown(str(key))
            return found[0]

        return operation
