"""Runs under examination: runs without a session, lost runs that were not reported, and folders that were not
removed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from covey.core.care.diagnoses import RUN_SESSIONLESS, RUN_UNCLEARED, RUN_UNTOLD
from covey.core.care.finding import Area, Examination, Finding
from covey.core.identity import THE_SPACE, Identity
from covey.core.text.wording import counted
from covey.core.work.run import Run, RunMove
from covey.ports.checkup import Tell
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.ports.work import RunFilter
from covey.services.act import Act
from covey.services.care.doctor.note import note
from covey.services.care.upkeep import Upkeep
from covey.services.children.run_moves import lose_run, shift_run

MOST: Final = 1_000_000
"""The number of runs that are examined."""

CLEARING: Final = timedelta(minutes=1)
"""The time that the supervisor of a child may take to clean up after it."""

LOST: Final = "its session is gone"


class Ailing(NamedTuple):
    """Faults of runs."""

    running: int
    """The total number of running children."""
    sessionless: Sequence[Run]
    untold: Sequence[Run]
    uncleared: Sequence[Run]

    def findings(self) -> tuple[Finding, ...]:
        sizes = len(self.sessionless), len(self.untold), len(self.uncleared)
        sessionless, untold, uncleared = (counted(size, "run") for size in sizes)
        found = (
            Finding(RUN_SESSIONLESS, f"{sessionless} without a session, not over", _lines(self.sessionless)),
            Finding(RUN_UNTOLD, f"{untold} lost, and nobody was told", _lines(self.untold)),
            Finding(
                RUN_UNCLEARED,
                f"{uncleared} over, with the folder still there",
                tuple(f"{run.folder} of {_line(run)}" for run in self.uncleared),
            ),
        )
        return tuple(finding for finding in found if finding.items)


class RunsCheckup:
    area = Area.RUNS

    def __init__(self, store: Store, clock: Clock, upkeep: Upkeep) -> None:
        self._store = store
        self._clock = clock
        self._upkeep = upkeep

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        del thorough, tell
        found = await self._store.read(lambda tx: _look(tx, self._clock.now()), is_long=True)
        return Examination(self.area, counted(found.running, "running child", "running children"), found.findings())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        codes = {finding.code for finding in findings}

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            ailing = await _look(tx, act.now)
            for finding in ailing.findings():
                if finding.code in codes and finding.remedy is not None:
                    await note(act, finding)
            if RUN_SESSIONLESS.code in codes:
                for run in ailing.sessionless:
                    await _lose(act._replace(actor=THE_SPACE), run)

        await self._store.commit(operation, is_long=True)
        await self._upkeep.tend()


async def _look(tx: Transaction, now: datetime) -> Ailing:
    running = await tx.runs.find(RunFilter(has_ended=False), MOST)
    left = await tx.runs.uncleared(MOST)
    return Ailing(
        running=len(running),
        sessionless=[run for run in running if await _is_sessionless(tx, run)],
        untold=await tx.runs.untold(MOST),
        uncleared=[run for run in left if run.ended_at is not None and run.ended_at + CLEARING <= now],
    )


async def _is_sessionless(tx: Transaction, run: Run) -> bool:
    """Tell whether a run goes on without a session. A run whose process is gone and whose session has not ended yet is
    a finding of the sessions' checkup."""
    session = await tx.sessions.get(run.session)
    return session is None or session.has_ended


async def _lose(act: Act, run: Run) -> None:
    session = await act.tx.sessions.get(run.session)
    if session is None:
        await shift_run(act, run._replace(is_told=False), RunMove.LOSE, LOST)
    else:
        await lose_run(act, session, session.end_reason or LOST)


def _lines(runs: Sequence[Run]) -> tuple[str, ...]:
    return tuple(map(_line, runs))


def _line(run: Run) -> str:
    return f"{run.id}, a child of {run.agent} for {run.parent_agent} ({run.state})"
