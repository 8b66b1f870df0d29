"""Workers and their child processes, killed at random while tasks arrive; then the verdict."""

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random, randrange
from typing import Final

from covey.core.directory.card import Card
from covey.core.identity import Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName
from covey.core.work.task import TaskState
from covey.engines import connect_inline, parse_store_url
from covey.ports.work import TaskFilter
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services
from tests.chaos.duty import Duty, store, write_program
from tests.chaos.duty_verdict import Verdict, judge, left_behind
from tests.chaos.nursery import Nursery, nursery
from tests.chaos.talkative import let_talk
from tests.properties.world import finish

ANN: Final = AgentName("ann")
CODER: Final = AgentName("coder")
QUOTA: Final = 4
WORKERS: Final = 3
CONCURRENCY: Final = 2
UNDER_WAY: Final = 8
"""Number of unfinished tasks that is kept up, so that a killed process has work."""
LONGEST_PAUSE_S: Final = 0.15
"""Between two kills."""
IDLE_LIMIT_S: Final = 10.0
END_LIMIT_S: Final = 60.0
GONE_LIMIT_S: Final = 10.0
LOOK_S: Final = 0.005
WORKER_SHARE: Final = 0.6
"""The share of kills that hit a worker. The others hit a random process that a worker has started."""


@contextmanager
def chaos_folder() -> Generator[tuple[Path, Random]]:
    """Provide a folder and a random generator for a run. The folder is kept if the run fails."""
    seed = int(os.environ.get("COVEY_SEED") or randrange(2**32))
    print(f"\nCOVEY_SEED={seed} repeats the choices of this run")
    folder = Path(tempfile.mkdtemp(prefix="covey-duty-"))  # not a folder of pytest: the paths of sockets must be short
    try:
        yield folder, Random(seed)
    except BaseException:
        print(f"the space, the ledger and the logs of the workers are kept in {folder}")
        raise
    shutil.rmtree(folder)


class Rampage:
    """One agent on duty in several processes, which are killed at random."""

    def __init__(self, folder: Path, workers: Nursery, space: Services, random: Random) -> None:
        self._folder = folder
        self._workers = workers
        self._space = space
        self._random = random
        self._started = 0
        self._pids: list[int] = []
        self._tasks = 0
        self.hits: dict[str, int] = {}
        """The number of kills, by kind of process."""
        self.deaths: list[str] = []
        """The ends of workers that were not killed: there should be none."""

    def rampage(self, kills: int) -> None:
        """Kill `kills` processes, each at a random moment."""
        self._pids = [self._start() for _ in range(WORKERS)]
        while sum(self.hits.values()) < kills:
            position = self._position()
            self._hand_over()
            time.sleep(self._random.uniform(0, LONGEST_PAUSE_S))
            self._wait(lambda before=position: self._position() > before + 2, IDLE_LIMIT_S)
            self._hit()

    def finish(self) -> None:
        """Let the workers finish the remaining tasks, and stop them in order."""
        done = self._wait(lambda: not self._unfinished(), END_LIMIT_S)
        assert done, f"not finished in time: {self._unfinished()}"
        for pid in self._pids:
            answer = self._workers.end(pid)
            if answer != "ended by itself with 0":
                self.deaths.append(answer)

    def _hit(self) -> None:
        place = self._random.randrange(WORKERS)
        below = list(_descendants(self._pids[place]))
        if below and self._random.random() > WORKER_SHARE:
            pid, name = self._random.choice(below)
            if _kill_descendant(pid, self._folder):
                self.hits[name] = self.hits.get(name, 0) + 1
            return
        answer = self._workers.kill(self._pids[place])
        if answer != "killed":
            self.deaths.append(answer)
        self.hits["worker"] = self.hits.get("worker", 0) + 1
        self._pids[place] = self._start()

    def _start(self) -> int:
        self._started += 1
        duty = Duty(str(self._folder), CODER, self._started, CONCURRENCY)
        return self._workers.start(json.dumps(duty))

    def _hand_over(self) -> None:
        for _ in range(UNDER_WAY - len(self._unfinished())):
            self._tasks += 1
            hand_over(self._space, CODER, f"task {self._tasks}")

    def _unfinished(self) -> Sequence[str]:
        return [view.task.id for view in finish(self._space.tasks.find(TaskFilter(is_finished=False)))]

    def _position(self) -> int:
        return finish(self._space.history.last())

    def _wait(self, is_so: Callable[[], bool], limit_s: float) -> bool:
        ends_at = time.monotonic() + limit_s
        while not is_so():
            if time.monotonic() > ends_at:
                return False
            time.sleep(LOOK_S)
        return True


def rampage(kills: int) -> Verdict:
    """Kill `kills` processes while tasks are done, and judge the result."""
    with chaos_folder() as (folder, random):
        begun = time.monotonic()
        with space_of(folder, {CODER: QUOTA}, is_slow=True) as space, nursery("tests.chaos.duty", folder) as workers:
            run = Rampage(folder, workers, space, random)
            run.rampage(kills)
            run.finish()
        _wait_until_gone(folder)
        verdict = judge(folder, {CODER: QUOTA})._replace(hits=run.hits)
        print(
            f"kills {sum(run.hits.values())} {run.hits} · tasks {verdict.tasks} {dict(verdict.states)} ·"
            f" left when {dict(verdict.released)} · recalled {verdict.recalled} ·"
            f" most at once {verdict.most_held[CODER]} · faults {len(verdict.faults)} ·"
            f" {time.monotonic() - begun:.0f} s",
            flush=True,
        )
        assert not verdict.faults, "\n".join(verdict.faults[:20])
        assert not run.deaths, "\n".join(run.deaths)
        return verdict


@contextmanager
def space_of(folder: Path, quotas: Mapping[AgentName, int], *, is_slow: bool) -> Generator[Services]:
    """Provide a new space with agents that have quotas, and a program for their tasks."""
    write_program(folder, is_slow)
    ports = connect_inline(parse_store_url(store(folder)), ())
    try:
        space = Services(ports)
        for agent, quota in (*quotas.items(), (ANN, 1)):
            finish(space.directory.register(agent, Card(quota=quota), Identity(agent)))
        let_talk(space)
        yield space
    finally:
        finish(ports.close())


def hand_over(space: Services, agent: AgentName, text: str) -> None:
    """Hand a task to an agent."""
    draft = Draft(Kind.TASK, (parse_address(agent),), (TextPart(text),))
    view = finish(space.tasks.delegate(draft, Identity(ANN), SendPolicy()))
    assert view.task.state is TaskState.PENDING


def _wait_until_gone(folder: Path) -> None:
    """Wait a moment until the guardians of killed workers are gone. Processes that remain are a fault."""
    ends_at = time.monotonic() + GONE_LIMIT_S
    while any(left_behind(folder)) and time.monotonic() < ends_at:
        time.sleep(LOOK_S)


def _descendants(pid: int) -> Iterator[tuple[int, str]]:
    """Yield the descendants of a process, each with a name for its role."""
    for child, depth in _below(pid, 1):
        yield child, {1: "house", 2: "guardian"}.get(depth, "program")


def _below(pid: int, depth: int) -> Iterator[tuple[int, int]]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in map(int, children):
        yield child, depth
        yield from _below(child, depth + 1)


def _kill_descendant(pid: int, folder: Path) -> bool:
    """Kill a process of this run. Check first, because its id may belong to another process by now."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if str(folder).encode() not in Path(f"/proc/{pid}/environ").read_bytes():
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
