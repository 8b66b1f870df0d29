"""Runs under audit: each run agrees with the journal, and ends with its session."""

from collections.abc import AsyncIterator
from typing import Final

from covey.core.disagreement import Disagreement, differing
from covey.core.replay import Replay
from covey.core.run import Run
from covey.ports.runs import RunFilter
from covey.ports.store import Transaction
from covey.services.audit_books import Books

ALL: Final = 1_000_000_000


async def run_faults(tx: Transaction, replay: Replay, _books: Books) -> AsyncIterator[Disagreement]:
    """Check that every run has its spawn in the journal and the state that its moves lead to, and that none is
    missing."""
    runs = {run.id: run for run in await tx.runs.find(RunFilter(), ALL)}
    for run_id in {**replay.runs, **runs}:
        run = runs.get(run_id)
        for fault in differing("run", run_id, replay.runs.get(run_id), None if run is None else run.state):
            yield fault
        if run is not None:
            async for fault in _of_run(tx, run):
                yield fault


async def _of_run(tx: Transaction, run: Run) -> AsyncIterator[Disagreement]:
    for fault in differing("run's end", run.id, run.has_ended, run.ended_at is not None):
        yield fault
    if not run.is_told and not run.has_ended:
        yield Disagreement("run's end", run.id, "nothing to tell before it", "untold")
    session = await tx.sessions.get(run.session)
    kept = None if session is None else (session.agent, session.key, session.has_ended)
    for fault in differing("run's session", run.id, (run.agent, run.key, run.has_ended), kept):
        yield fault
