"""Waits and causal trees under examination: those without an owner, and those that were stopped or paused."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from covey.core.care.diagnoses import TREE_ROOTLESS, WAIT_LEFT
from covey.core.care.finding import Area, Examination, Finding
from covey.core.directory.routing import WHOLE, Pause
from covey.core.identity import Identity
from covey.core.ledger.waits import Wait
from covey.core.names import AgentName
from covey.core.reporting import counted
from covey.core.storms.budget import Tree
from covey.core.storms.flow import StormStop
from covey.ports.care import ProgressCallback
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act
from covey.services.care.doctor.journal import note
from covey.services.directory.settings import pauses_of
from covey.services.mail.waits import WaitGraph
from covey.services.storms.storms import stops_at

MOST: Final = 1_000_000
"""The number of trees that are examined."""

LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)


class StormProblems(NamedTuple):
    """Faults of waits and trees, and the stops and pauses in force."""

    waits: int
    """The total number of waits."""
    trees: int
    left: Sequence[Wait]
    """Waits of sessions that are gone. An expired wait is removed when its agent waits again."""
    rootless: Sequence[Tree]
    stopped: Sequence[Tree]
    exchanges: Sequence[StormStop]
    paused: Mapping[AgentName, Pause]

    def notes(self) -> tuple[str, ...]:
        """Return notes on stops and pauses that are in force on purpose."""
        return (
            *(_told_pause(name, pause) for name, pause in self.paused.items()),
            *(f"the tree of {tree.root} is stopped: `covey storms` shows why" for tree in self.stopped),
            *(_told_stop(stop) for stop in self.exchanges),
        )

    def findings(self) -> tuple[Finding, ...]:
        found = (
            Finding(
                WAIT_LEFT,
                f"{counted(len(self.left), 'wait')} of ended processes",
                tuple(f"{wait.asker} for {wait.what}" for wait in self.left),
            ),
            Finding(
                TREE_ROOTLESS,
                f"{counted(len(self.rootless), 'causal tree')} of a missing message",
                tuple(tree.root for tree in self.rootless),
            ),
        )
        return tuple(finding for finding in found if finding.items)


class StormsCheckup:
    area = Area.STORMS

    def __init__(self, store: Store, clock: Clock, liveness: Liveness) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell
        found = await self._store.read(self._look, is_long=True)
        if found.left:
            # An agent that left between the read and the check of its process no longer waits at the next read.
            again = await self._store.read(self._look, is_long=True)
            found = again._replace(left=[wait for wait in again.left if wait in found.left])
        summary = f"{counted(found.trees, 'causal tree')}, {counted(found.waits, 'wait')}"
        return Examination(self.area, summary, found.findings(), notes=found.notes())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        codes = {finding.code for finding in findings}

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            ailing = await self._look(tx)
            for finding in ailing.findings():
                if finding.code in codes:
                    await note(act, finding)
            if WAIT_LEFT.code in codes:
                for wait in ailing.left:
                    await tx.waits.remove(wait.asker, wait.what)
            if TREE_ROOTLESS.code in codes:
                for tree in ailing.rootless:  # a tree that is not stopped and has not grown since is forgotten
                    await tx.trees.put(Tree(tree.root, LONG_AGO, LONG_AGO))
                await tx.trees.forget(LONG_AGO + timedelta(seconds=1), len(ailing.rootless))

        await self._store.commit(operation, is_long=True)

    async def _look(self, tx: Transaction) -> StormProblems:
        now = self._clock.now()
        graph = WaitGraph(tx, self._liveness, now, None)
        waits = await tx.waits.all()
        trees = await tx.trees.since(LONG_AGO, MOST)
        return StormProblems(
            waits=len(waits),
            trees=len(trees),
            left=[wait for wait in waits if wait.until > now and not await graph.is_there(wait)],
            rootless=[tree for tree in trees if await _is_rootless(tx, tree)],
            stopped=await tx.trees.stopped(),
            exchanges=await stops_at(tx, now),
            paused=await pauses_of(tx),
        )


async def _is_rootless(tx: Transaction, tree: Tree) -> bool:
    return await tx.messages.get(tree.root) is None and not await tx.pruned.has(tree.root)


def _told_stop(stop: StormStop) -> str:
    what = f"progress of task {stop.id}" if stop.is_task else f"exchange of {' and '.join(stop.agents)}"
    return f"the {what} is stopped: `covey storms` shows why"


def _told_pause(name: AgentName, pause: Pause) -> str:
    who, again = ("the space", "covey resume") if name == WHOLE else (name, f"covey resume {name}")
    return f"{who} is paused by {pause.by}{f' ({pause.reason})' if pause.reason else ''}: `{again}` lets it go on"
