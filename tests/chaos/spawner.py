"""The spawner: starts children for a parent, and kills a victim at a stage of the spawn.

It runs as a zygote that has imported everything. Each line on its standard input is a plan. The zygote forks a process
that follows the plan, and answers with the exit code of that process. At the end of the input it ends.
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
from covey.core.names import JOURNAL_TOPIC, AgentName, SessionId
from covey.core.work.run import Run, RunId, Stage
from covey.services.act import Act
from covey.services.children.request import SpawnRequest
from covey.services.children.saga import SagaStep
from covey.services.children.stages import SpawnStages

LIMIT_S = 30.0
IN_WORLD = frozenset({Stage.ATTACHMENTS, Stage.WORKSPACE, Stage.LAUNCH, Stage.HOOKS})


class Plan(NamedTuple):
    """Spawns to make, and the victim with the stages of its death."""

    url: str
    session: str
    """The session of the parent."""
    victim: str
    """parent (this process, which supervises the children), child (its program), guardian or house."""
    stages: list[tuple[str, bool]]
    """The stages at which the victim dies in turn, each with True if it dies before the stage does its work."""
    spawns: int = 1
    """The number of concurrent spawns."""
    attachment: str | None = None

    def encode(self) -> str:
        return json.dumps(self._asdict())


def follow(plan: Plan) -> None:
    """Follow a plan. This process is killed meanwhile if the plan says so."""
    asyncio.run(_follow(plan))


@contextmanager
def _held(plan: Plan) -> Generator[None]:
    """Keep programs from ending during the block, so that the victim still exists."""
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
        if plan.victim == "house":  # starts a house before the first stage
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
    with suppress(CoveyError):  # a refusal, or a killed launcher: the parent gets an error
        return await space.services.spawning.spawn(_wish(plan), lead)
    return None


async def _until_over(space: covey.Space, run_id: RunId) -> None:
    async def look() -> bool | None:
        run = (await space.services.runs.view(run_id)).run
        return True if run.has_ended and run.folder is None else None

    while await space.services.waiting.until([JOURNAL_TOPIC], look, LIMIT_S) is None:
        pass


def _deadly_stages(victim: str, stage: str, is_before: bool) -> type[SpawnStages]:
    """Return stages, one of which kills the victim."""

    class Deadly(SpawnStages):
        def steps(self) -> Sequence[SagaStep]:
            return [_deadly(step, victim, is_before) if step.stage == stage else step for step in super().steps()]

    return Deadly


def _deadly(step: SagaStep, victim: str, is_before: bool) -> SagaStep:
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
    """Kill the victim among the processes of a run, if it exists."""
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
    """Follow plans until the input ends, each in a separate process."""
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
