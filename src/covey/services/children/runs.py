"""Runs: lists, trees and histories of children, read only."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from covey.core.directory.session import Session
from covey.core.ledger.event import Event
from covey.core.ledger.message import Message
from covey.core.names import SessionId
from covey.core.work.run import Run, RunId, RunMove, run_moved
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.ledger import EventFilter
from covey.ports.store import Store, Transaction
from covey.ports.work import RunFilter
from covey.services.children.spawning import known_run
from covey.services.directory.presence import is_live, why_dead
from covey.services.records import known_message

PAGE = 500


class RunView(NamedTuple):
    """A run as it is now: a run whose process was killed is lost, also before that is recorded."""

    run: Run
    depth: int = 0
    """The depth below the root of the tree."""


class RunViews:
    def __init__(self, store: Store, clock: Clock, liveness: Liveness) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness

    async def view(self, run_id: RunId) -> RunView:
        """Return a run. Raise RunUnknown if there is none."""

        async def operation(tx: Transaction) -> RunView:
            return await self._view(tx, await known_run(tx, run_id))

        return await self._store.read(operation)

    async def of_session(self, session_id: SessionId) -> RunView | None:
        """Return the run that a session belongs to; None for a main session."""

        async def operation(tx: Transaction) -> RunView | None:
            run = await tx.runs.of_session(session_id)
            return None if run is None else await self._view(tx, run)

        return await self._store.read(operation)

    async def find(self, wanted: RunFilter, limit: int = 100) -> Sequence[RunView]:
        """Return the matching runs that were spawned last, oldest first."""

        async def operation(tx: Transaction) -> Sequence[RunView]:
            return [await self._view(tx, run) for run in await tx.runs.find(wanted, limit)]

        return await self._store.read(operation, is_long=True)

    async def tree(self, session_id: SessionId, *, with_ended: bool = True) -> Sequence[RunView]:
        """Return the children of a session and all their descendants, each after its parent."""

        async def operation(tx: Transaction) -> Sequence[RunView]:
            found: list[RunView] = []
            ahead = [(run, 0) for run in reversed(await tx.runs.children(session_id))]
            while ahead:
                run, depth = ahead.pop()
                view = (await self._view(tx, run))._replace(depth=depth)
                if with_ended or not view.run.has_ended:
                    found.append(view)
                ahead.extend((child, depth + 1) for child in reversed(await tx.runs.children(run.session)))
            return found

        return await self._store.read(operation, is_long=True)

    async def history(self, run_id: RunId) -> Sequence[Message]:
        """Return the messages between a child and its parent: its first prompt, and the rest of that thread."""

        async def operation(tx: Transaction) -> Sequence[Message]:
            run = await known_run(tx, run_id)
            return await tx.messages.thread((await known_message(tx, run.request)).thread)

        return await self._store.read(operation)

    async def events(self, run_id: RunId, after: int = 0) -> Sequence[Event]:
        """Return the events of a run after a position of the journal: its stages, its moves, its end."""

        async def operation(tx: Transaction) -> Sequence[Event]:
            run = await known_run(tx, run_id)
            found = await tx.journal.read(after, PAGE, EventFilter(message_id=run.request))
            return [event for event in found if event.details.get("run") == run.id]

        return await self._store.read(operation)

    async def _view(self, tx: Transaction, run: Run) -> RunView:
        session = await tx.sessions.get(run.session)
        return RunView(run if session is None else self._as_it_is(run, session, self._clock.now()))

    def _as_it_is(self, run: Run, session: Session, now: datetime) -> Run:
        if run.has_ended or is_live(session, self._liveness, now):
            return run
        return run_moved(run, RunMove.LOSE, now, why_dead(session))
