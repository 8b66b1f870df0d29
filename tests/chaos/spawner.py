"""The spawner: starts children for a parent, and has somebody killed at a stage of it.

It runs as a zygote that has imported everything: each line on its standard input is a plan, for which it forks a
process that follows it, and each is answered with how that process ended. At the end of the input it ends.
"""

import asyncio
import gc
import json
import os
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import covey
from covey.core.errors import CoveyError
from covey.core.identity import Grade, Identity
from covey.core.ids import JOURNAL_TOPIC, SessionId
from covey.core.names import AgentName
from covey.core.work.run import Run, RunId, Stage
from covey.services.act import Act
from covey.services.children.request import SpawnRequest
from covey.services.children.stages import Stages
from covey.services.children.steps import Step

LIMIT_S = 30.0
IN_WORLD = frozenset({Stage.ATTACHMENTS, Stage.WORKSPACE, Stage.LAUNCH, Stage.HOOKS})


class Plan(NamedTuple):
    """What to do, and who dies when."""

    url: str
    session: str
    """The parent's."""
    victim: str
    """parent (who watches over the children: this process), child (its program), guardian or house."""
    stages: list[tuple[str, bool]]
    """At which it dies, one after the other, and whether before what happens there."""
    spawns: int = 1
    """How many at once."""
    attachment: str | None = None

    def encode(self) -> str:
        return json.dumps(self._asdict())


def follow(plan: Plan) -> None:
    """Do what a plan says; where it says so, this process is killed meanwhile."""
    asyncio.run(_follow(plan))


@contextmanager
def _held(plan: Plan) -> Generator[None]:
    """Keep programs from ending by themselves while the block lasts: whoever is to be killed is still there then."""
    hold = Path(f"{plan.url.partition(':')[2]}-hold-{os.getpid()}")
    os.environ["HOLD"] = str(hold)
    hold.touch()
    try:
        yield
    finally:
        hold.unlink()


async def _follow(plan: Plan) -> None:
    lead = Identity(AgentName("lead"), SessionId(plan.session), Grade.SESSION)
    async with asyncio.timeout(LIMIT_S), covey.open(plan.url, roots=["/"]) as space:
        spawning = space.services.spawning
        if plan.victim == "house":  # so that there is one from the beginning
            await _until_over(space, (await spawning.spawn(_wish(plan), lead)).id)

        for stage, is_before in plan.stages:
            spawning.stages = _deadly_stages(plan.victim, stage, is_before)
            with _held(plan):
                runs = await asyncio.gather(*(_spawned(space, plan, lead) for _ in range(plan.spawns)))
            for run in runs:
                if run is not None:
                    await _until_over(space, run.id)


def _wish(plan: Plan) -> SpawnRequest:
    return SpawnRequest("Say hello", attachments=() if plan.attachment is None else (plan.attachment,))


async def _spawned(space: covey.Space, plan: Plan, lead: Identity) -> Run | None:
    with suppress(CoveyError):  # a refusal, or a launcher that was killed: the parent is told
        return await space.services.spawning.spawn(_wish(plan), lead)
    return None


async def _until_over(space: covey.Space, run_id: RunId) -> None:
    async def look() -> bool | None:
        run = (await space.services.runs.view(run_id)).run
        return True if run.has_ended and run.folder is None else None

    while await space.services.waiting.until([JOURNAL_TOPIC], look, LIMIT_S) is None:
        pass


def _deadly_stages(victim: str, stage: str, is_before: bool) -> type[Stages]:
    """Return stages at one of which somebody is killed."""

    class Deadly(Stages):
        def steps(self) -> Sequence[Step]:
            return [_deadly(step, victim, is_before) if step.stage == stage else step for step in super().steps()]

    return Deadly


def _deadly(step: Step, victim: str, is_before: bool) -> Step:
    async def in_ledger(act: Act, run: Run) -> Run:
        if is_before:
            _kill(victim, run)
        if step.in_ledger is not None:
            run = await step.in_ledger(act, run)
        if not is_before:
            _kill(victim, run)
        return run

    async def in_world(run: Run) -> None:
        if is_before:
            _kill(victim, run)
        if step.in_world is not None:
            await step.in_world(run)
        if not is_before:
            _kill(victim, run)

    return step._replace(in_world=in_world) if step.stage in IN_WORLD else step._replace(in_ledger=in_ledger)


def _kill(victim: str, run: Run) -> None:
    """Kill somebody of a run, where they are there."""
    programs = with_variable(f"COVEY_RUN_ID={run.id}")
    guardians = {parent for pid in programs if (parent := _parent(pid)) is not None}
    victims = {
        "parent": [os.getpid()],
        "child": programs,
        "guardian": sorted(guardians),
        "house": [pid for pid in _pids() if _parent(pid) == os.getpid()],
    }
    for pid in victims[victim]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def with_variable(setting: str) -> Sequence[int]:
    """Return the processes that have a setting in their environment."""
    return [pid for pid in _pids() if setting.encode() in _read(pid, "environ").split(b"\0")]


def _parent(pid: int) -> int | None:
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return int(fields[1]) if len(fields) > 1 else None


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _pids() -> Sequence[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def main() -> None:
    """Follow plans until the input ends, each in a process of its own."""
    gc.freeze()
    for line in sys.stdin:
        plan = Plan(**json.loads(line))
        pid = os.fork()
        if not pid:
            code = 1
            try:
                nothing = os.open(os.devnull, os.O_RDWR)
                os.dup2(nothing, 0)
                os.dup2(nothing, 1)
                follow(plan)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
