"""The saga of a spawn: commits between the stages, an event for each, and the rollback if one fails."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from covey.core.errors import CoveyError, NotFound, Rejected
from covey.core.identity import Identity
from covey.core.ledger.event import Action
from covey.core.work.run import Run, Stage
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal

InLedger = Callable[[Act, Run], Awaitable[Run]]
"""Works within a transaction, which may be retried, and returns the updated run."""
InWorld = Callable[[Run], Awaitable[None]]
"""Works outside the ledger, between two commits."""


class SagaStep(NamedTuple):
    """One stage: its work in the ledger or in the world, and how to undo it."""

    stage: Stage
    in_ledger: InLedger | None = None
    in_world: InWorld | None = None
    undo: InLedger | None = None
    unmake: InWorld | None = None


class Saga:
    """One pass through the steps. Adjacent steps in the ledger share a commit; work done in the world is journalled
    with the next commit."""

    def __init__(self, steps: Sequence[SagaStep], run: Run, actor: Identity, store: Store, now: Callable[[], datetime]):
        self._steps = steps
        self.run = run
        """The run as last committed."""
        self._actor = actor
        self._store = store
        self._now = now
        self._committed: list[SagaStep] = []
        self._made: list[SagaStep] = []
        """Steps done or begun in the world since the last commit."""
        self._trying: list[SagaStep] = []
        """Steps being committed. If the commit is interrupted, its outcome is unknown."""

    async def go(self) -> None:
        """Run all steps. If this raises, call `undo`."""
        ahead: list[SagaStep] = []
        for step in self._steps:
            if step.in_world is not None:
                if any(earlier.in_ledger is not None for earlier in ahead):
                    await self._commit(ahead)
                    ahead = []
                self._made.append(step)  # before it runs: a step that fails half-way must be undone too
                await step.in_world(self.run)
            ahead.append(step)
        # Light: a power cut ends the launched program as well, and a run that did not get this far is given up as lost.
        await self._commit(ahead, is_light=True)

    async def undo(self, error: BaseException) -> bool:
        """Undo the finished steps in reverse order. Tell whether there was a run in the ledger. The ledger is changed
        in one transaction. If this raises, it can be retried."""
        if isinstance(error, Rejected | NotFound):  # so the attempted commit did not happen
            self._trying = []
        steps = self._to_undo()
        for step in steps:
            if step.unmake is not None:
                await step.unmake(self.run)
        if not self._committed and not self._trying:
            return False
        reason = error.message if isinstance(error, CoveyError) else f"{type(error).__name__}: {error}"

        async def operation(tx: Transaction) -> Run | None:
            act = Act(tx, self._actor, self._now())
            run = await tx.runs.get(self.run.id)
            if run is None or run.has_ended:
                return run
            run = run._replace(reason=f"its spawn failed: {reason}")
            for step in steps:
                run = run if step.undo is None else await step.undo(act, run)
                await self._note(act, Action.SPAWN_UNDONE, run, step)
            return run

        run = await self._store.commit(operation)
        self.run = run or self.run
        return run is not None

    def _to_undo(self) -> Sequence[SagaStep]:
        begun = [*self._committed, *self._made, *self._trying]
        return [step for step in reversed(self._steps) if step in begun]

    async def _commit(self, steps: Sequence[SagaStep], *, is_light: bool = False) -> None:
        """Apply the ledger part of some steps, and journal each, in one transaction."""
        if not steps:
            return

        async def operation(tx: Transaction) -> Run:
            act = Act(tx, self._actor, self._now())
            run = await tx.runs.get(self.run.id) or self.run  # it may have been stopped or lost meanwhile
            for step in steps:
                run = run if step.in_ledger is None else await step.in_ledger(act, run)
                run = run._replace(stage=step.stage)
                await self._note(act, Action.SPAWN_STAGE, run, step)
            await tx.runs.put(run)
            return run

        self._trying = [*steps]
        self.run = await self._store.commit(operation, is_light=is_light)
        self._committed += steps
        self._made = []
        self._trying = []

    async def _note(self, act: Act, action: Action, run: Run, step: SagaStep) -> None:
        await journal(
            act,
            action,
            message_id=run.request,
            agent=run.agent,
            run=run.id,
            session=run.session,
            stage=str(step.stage),
        )
