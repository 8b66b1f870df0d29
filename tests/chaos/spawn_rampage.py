"""A rampage among children and their parents: a process is killed at a given stage, and each kill is judged."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import covey
from covey import Card, Member, Space
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.ledger.event import Action, Event
from covey.core.ledger.ticket import TicketState
from covey.core.work.run import ENDED, Run, RunState, Stage, status_of
from covey.ports.store import Store, Transaction
from covey.ports.work import RunFilter
from covey.services.care.upkeep import UpkeepResult
from covey.testing import closing
from tests.chaos.spawner import Plan, with_variable

ROOT = Path(__file__).parents[2]
MARK = "COVEY_SPAWN_TEST"
PROGRAM = (
    "sh",
    "-c",
    'cat "$COVEY_FOLDER"/attachments/* 2>/dev/null; while [ -e "$HOLD" ]; do sleep 0.01; done; echo hello',
)
"""The program ends after the kill."""
LIMIT_S = 20.0
MOST = 3
"""The limit of children of the parent."""


class Zygote:
    """Forks a process for each plan."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def follow(self, plan: Plan) -> int:
        """Have a plan followed in a forked process. Return the exit code of that process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(plan.encode() + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def zygote() -> Generator[tuple[Zygote, str]]:
    """Start a zygote. Yield it with the variable that marks it and its descendants."""
    mark = f"{MARK}={uuid4()}"
    name, _, value = mark.partition("=")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.spawner"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, name: value},
        text=True,
    ) as process:
        try:
            yield Zygote(process), mark
        finally:
            process.kill()


class Death(NamedTuple):
    """A victim, the stages at which it dies in turn, and the number of concurrent spawns."""

    victim: str
    stages: Sequence[tuple[Stage, bool]]
    """Each with True if the victim dies before the stage does its work."""
    spawns: int = 1


async def rampage(folder: Path, deaths: Sequence[Death]) -> Counter[str]:
    """Cause the deaths one at a time, and judge after each. Return the number of children in each final state."""
    attachment = folder / "plan.txt"
    attachment.write_text("the plan\n")
    url = f"sqlite:{folder}/.covey/covey.db"
    ends: Counter[str] = Counter()
    with zygote() as (driver, mark):
        async with covey.open(url) as space, closing(SqliteStore(f"{folder}/.covey/covey.db")) as store:
            card = Card(command=PROGRAM, max_children=MOST)
            lead = await space.join("lead", card=card)
            seen = 0
            for death in deaths:
                plan = Plan(url, lead.session.id, death.victim, [*death.stages], death.spawns, str(attachment))
                code = driver.follow(plan)
                assert code in (0, -signal.SIGKILL), f"{plan}: it ended with {code}"
                seen = await _judge(space, store, lead, folder, mark, plan, seen, ends)
    return ends


async def _judge(
    space: Space, store: Store, lead: Member, folder: Path, mark: str, plan: Plan, seen: int, ends: Counter[str]
) -> int:
    """Raise AssertionError if a plan has left anything behind, or a report is missing or wrong."""
    while await space.services.upkeep.tend() != UpkeepResult(0, 0, 0, 0):
        pass
    await _until_alone(mark, plan)
    runs_folder = folder / ".covey" / "runs"
    assert not runs_folder.exists() or not [*runs_folder.iterdir()], f"{plan}: a folder is left"
    runs = [view.run for view in await space.services.runs.find(RunFilter(), 10_000)][seen:]
    assert all(run.has_ended and run.is_told and run.folder is None for run in runs), f"{plan}: {runs}"
    ends.update(str(run.state) for run in runs)
    sessions = {session.id for view in await space.agents() for session in view.sessions}
    assert sessions == {lead.session.id}, f"{plan}: a session is left"
    await _check_told(store, lead, runs, plan)
    _check_limit([event async for event in space.journal()])
    assert await space.services.audit.check() == [], f"{plan}: the books disagree"
    return seen + len(runs)


async def _until_alone(mark: str, plan: Plan) -> None:
    """Wait until only the zygote is left: the processes of a dead parent end at once, which takes a moment."""
    ends_at = time.monotonic() + LIMIT_S
    while len(left := with_variable(mark)) > 1:
        assert time.monotonic() < ends_at, f"{plan}: processes are left: {left}"
        await asyncio.sleep(0.005)


async def _check_told(store: Store, lead: Member, runs: Sequence[Run], plan: Plan) -> None:
    """Check that each run known to its parent has reported its end once, and that no ticket or lease is open."""
    told = await lead.inbox.peek()
    for run in runs:

        async def operation(tx: Transaction, run: Run = run) -> tuple[bool, TicketState | None, int]:
            ticket = await tx.tickets.get(run.ticket)
            asked = await tx.messages.get(run.request) is not None
            offers = await tx.offers.live_of(run.session)
            return asked, None if ticket is None else ticket.state, len(offers)

        was_asked, ticket, offers = await store.read(operation)
        assert (ticket, offers) == (TicketState.CLOSED if was_asked else None, 0), f"{plan}: {run}"
        about = [d for d in told if d.message.marks is not None and d.message.marks.run == run.id]
        # A failed spawn was reported to its caller.
        is_spawn_failed = run.state is RunState.FAILED and (run.reason or "").startswith("its spawn failed")
        assert len(about) == (0 if is_spawn_failed else 1), f"{plan}: {run} {about}"
        assert all(status_of(d.message) is run.state for d in about), f"{plan}: {run}"
    for delivery in told:
        await delivery.handle()


def _check_limit(events: Sequence[Event]) -> None:
    """Check that the parent never has more children than its limit, at any point of the journal."""
    alive: set[object] = set()
    for event in events:
        run = event.details.get("run")
        if event.action is Action.SPAWN_STAGE and event.details.get("stage") == Stage.SESSION:
            alive.add(run)
        elif event.action is Action.RUN_MOVED and event.details.get("to") in ENDED:
            alive.discard(run)
        assert len(alive) <= MOST
