"""Going through the stages of a spawn: commits between them, events for each, and the way back when one fails."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from covey.core.errors import CoveyError, NotFound, Rejected
from covey.core.event import Action
from covey.core.identity import Identity
from covey.core.run import Run, Stage
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal

InLedger = Callable[[Act, Run], Awaitable[Run]]
"""Does something in a transaction, which may run again, and returns the run as it is then."""
InWorld = Callable[[Run], Awaitable[None]]
"""Does something outside, between two commits."""


class Step(NamedTuple):
    """One stage: what it does, in the ledger or in the world, and what takes that back."""

    stage: Stage
    in_ledger: InLedger | None = None
    in_world: InWorld | None = None
    undo: InLedger | None = None
    unmake: InWorld | None = None


class Walk:
    """One walk through the steps. Steps in the ledger share a commit with their neighbours; what was done in the world
    is journalled with the next commit."""

    def __init__(self, steps: Sequence[Step], run: Run, actor: Identity, store: Store, now: Callable[[], datetime]):
        self._steps = steps
        self.run = run
        """The run, as it was last committed."""
        self._actor = actor
        self._store = store
        self._now = now
        self._committed: list[Step] = []
        self._made: list[Step] = []
        """What was done in the world since the last commit, or was begun."""
        self._trying: list[Step] = []
        """What is being committed. Who is interrupted meanwhile does not know whether it was."""

    async def go(self) -> None:
        """Go through all steps. When this raises, `undo` has something to do."""
        ahead: list[Step] = []
        for step in self._steps:
            if step.in_world is not None:
                if any(earlier.in_ledger is not None for earlier in ahead):
                    await self._commit(ahead)
                    ahead = []
                self._made.append(step)  # before it is done: what fails half-way has to be taken back too
                await step.in_world(self.run)
            ahead.append(step)
        # Light: a power cut ends what was launched as well, and a run that did not get so far is given up as lost.
        await self._commit(ahead, is_light=True)

    async def undo(self, error: BaseException) -> bool:
        """Take back what was made, the last first; tell whether there was anything in the ledger. What the world
        forgets is written down in one transaction. It may be tried again when it raises."""
        if isinstance(error, Rejected | NotFound):  # so what was tried did not happen
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

    def _to_undo(self) -> Sequence[Step]:
        begun = [*self._committed, *self._made, *self._trying]
        return [step for step in reversed(self._steps) if step in begun]

    async def _commit(self, steps: Sequence[Step], *, is_light: bool = False) -> None:
        """Do what a few steps do in the ledger, and journal each, in one transaction."""
        if not steps:
            return

        async def operation(tx: Transaction) -> Run:
            act = Act(tx, self._actor, self._now())
            run = await tx.runs.get(self.run.id) or self.run  # somebody may want it to stop by now, or it is lost
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

    async def _note(self, act: Act, action: Action, run: Run, step: Step) -> None:
        await journal(
            act,
            action,
            message_id=run.request,
            agent=run.agent,
            run=run.id,
            session=run.session,
            stage=str(step.stage),
        )
