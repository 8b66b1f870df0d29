"""Sessions under examination: sessions whose process is gone and that have not been ended."""

from collections.abc import Sequence

from covey.core.care.diagnoses import EXPIRED_LEASE
from covey.core.care.finding import Area, Examination, Finding
from covey.core.directory.session import Session
from covey.core.identity import Identity
from covey.core.text.wording import counted
from covey.core.times import format_instant
from covey.ports.checkup import Tell
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act
from covey.services.care.doctor.note import note
from covey.services.care.upkeep import Upkeep
from covey.services.directory.presence import is_live, why_dead


class SessionsCheckup:
    area = Area.SESSIONS

    def __init__(self, store: Store, clock: Clock, liveness: Liveness, upkeep: Upkeep) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness
        self._upkeep = upkeep

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        del thorough, tell
        live, dead = await self._store.read(self._look, is_long=True)
        if dead:
            # A session that left between the read and the check of its process has ended by the next read.
            live, still = await self._store.read(self._look, is_long=True)
            dead = [session for session in still if session in dead]
        return Examination(self.area, counted(live, "live session"), (_finding(dead),) if dead else ())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            _, dead = await self._look(tx)
            if dead:
                await note(Act(tx, actor, self._clock.now()), _finding(dead))

        await self._store.commit(operation, is_long=True)
        await self._upkeep.tend()

    async def _look(self, tx: Transaction) -> tuple[int, Sequence[Session]]:
        """Return the number of live sessions, and the dead sessions that have not been ended."""
        now = self._clock.now()
        current = await tx.sessions.current()
        dead = [session for session in current if not is_live(session, self._liveness, now)]
        return len(current) - len(dead), dead


def _finding(dead: Sequence[Session]) -> Finding:
    what = f"{counted(len(dead), 'session')} without a process, not ended yet"
    return Finding(EXPIRED_LEASE, what, tuple(map(_line, dead)))


def _line(session: Session) -> str:
    return f"{session.key} ({why_dead(session)}; last seen {format_instant(session.seen_at)[:19]}Z)"
