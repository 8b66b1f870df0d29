"""A storm: eight processes on three machines send and settle messages, while the servers fail."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from random import Random, randrange
from typing import Final

from covey.adapters.sqlite.care.integrity import integrity_check
from covey.core.directory.card import Card
from covey.core.formats.nats_names import SpaceName, log_stream
from covey.core.identity import Identity
from covey.engines import connect_inline, parse_store_url
from covey.services.space import Services
from tests.chaos.diary import Trouble, read_diaries
from tests.chaos.life import NAMES
from tests.chaos.nursery import Nursery, nursery
from tests.chaos.rampage import CAPACITIES
from tests.chaos.replicas import brought_up, content
from tests.chaos.talkative import let_talk
from tests.chaos.verdict import judge
from tests.chaos.where import ASKED
from tests.chaos.worker import Worker, where_file
from tests.nats.servers import Cluster, three_nodes
from tests.properties.world import finish

SPACE: Final = SpaceName("storm")
STREAM: Final = log_stream(SPACE)
LIVES: Final = (0, 1, 1, 2, 0, 1, 2, 3)
"""The number of agents in each worker; 0 for a worker without an event loop."""
MACHINES: Final = 3
PAUSE_S: Final = 0.1
"""The longest pause of a life. Machines that write without a pause would test contention and not the servers."""
LIMIT_S: Final = 90
"""The time that a send waits for the servers: longer than any fault lasts."""
GO_ON_LIMIT_S: Final = 60.0
"""The time after a fault in which every worker must make progress again."""
LOOK_S: Final = 0.1
WHERE_LIMIT_S: Final = 2.0

Nodes = Callable[[Path], AbstractContextManager[Cluster]]
"""Starts a cluster that keeps its files in a folder."""


class Storm:
    """Workers on a cluster that is made to fail."""

    def __init__(self, cluster: Cluster, folder: Path, workers: Nursery, random: Random) -> None:
        self.cluster = cluster
        self.random = random
        self._folder = folder
        self._workers = workers
        self._started = 0
        self._pids: list[int] = []
        self._diaries: list[Path] = []
        self.kills = 0
        """The number of workers that were killed while the others continued."""
        self.deaths: list[str] = []
        """The ends of workers that were not killed: there should be none."""
        self.pauses: list[float] = []
        """The time after each fault until all workers made progress."""

    def url(self, machine: int) -> str:
        """Return the URL of the space for a machine."""
        return f"{self.cluster.url}/{SPACE}?cache={self._folder / f'machine{machine}'}&limit={LIMIT_S}"

    def begin(self) -> None:
        _register(self.url(0))
        for place in range(len(LIVES)):
            self._pids.append(0)
            self._diaries.append(self._folder)
            self._start(place)
        self.until_all_go_on()

    def until_all_go_on(self) -> None:
        """Return when every worker has had an operation acknowledged since the call."""
        begun = time.monotonic()
        before = [_size(diary) for diary in self._diaries]
        while behind := [n for n, diary in enumerate(self._diaries) if _size(diary) <= before[n]]:
            waited_s = time.monotonic() - begun
            if waited_s >= GO_ON_LIMIT_S:
                places = "".join(self._where(place) for place in behind)
                raise AssertionError(f"workers {behind} have done nothing for {waited_s:.0f} s{places}")
            troubles = [entry.text for entry in read_diaries(self._folder / "diaries") if isinstance(entry, Trouble)]
            assert not troubles, "\n".join(troubles)
            time.sleep(LOOK_S)
        self.pauses.append(time.monotonic() - begun)

    def _where(self, place: int) -> str:
        """Return the stack of a worker, as the worker reports it, if it still can."""
        file = where_file(self._diaries[place])
        os.kill(self._pids[place], ASKED)
        ends_at = time.monotonic() + WHERE_LIMIT_S
        while not file.exists() and time.monotonic() < ends_at:
            time.sleep(LOOK_S)
        return f"\nworker {place}:\n{file.read_text() if file.exists() else 'it does not say'}"

    def kill_worker(self) -> None:
        """Kill one of the workers, and start another in its place."""
        place = self.random.randrange(len(LIVES))
        self.kills += 1
        self._end(self._pids[place])
        self._start(place)

    def end(self) -> None:
        while self._pids:
            self._end(self._pids.pop())

    def _start(self, place: int) -> None:
        self._started += 1
        self._diaries[place] = self._folder / "diaries" / f"{self._started:05d}"
        worker = Worker(
            url=self.url(place % MACHINES),
            diary=str(self._diaries[place]),
            seed=self.random.randrange(2**32),
            lives=LIVES[place],
            pause_s=PAUSE_S,
        )
        self._pids[place] = self._workers.start(json.dumps(worker))

    def _end(self, pid: int) -> None:
        answer = self._workers.kill(pid)
        if answer != "killed":
            self.deaths.append(answer)

    def judge(self, faults: int) -> None:
        """Compare the acknowledgements with the space, on every machine and on a new one."""
        newcomer = f"{self.cluster.url}/{SPACE}?cache={self._folder / 'newcomer'}&limit={LIMIT_S}"
        verdict = judge(self._folder / "diaries", newcomer, None, is_over=True)
        print(
            f"faults {faults} · kills {self.kills} · accepted {verdict.accepted} ·"
            f" settled, archived, withdrawn {verdict.done} · pruned {verdict.pruned} ·"
            f" lost {len(verdict.lost)} · twice {len(verdict.twice)} · disagreements {len(verdict.disagreements)} ·"
            f" troubles {len(verdict.troubles)} · longest pause {max(self.pauses):.1f} s",
            flush=True,
        )
        assert not verdict.faults, "\n".join(verdict.faults[:20])
        assert not self.deaths, "\n".join(self.deaths)
        assert verdict.accepted > 2 * len(LIVES), "the workers hardly came to do anything"
        replicas = [brought_up(url) for url in (*map(self.url, range(MACHINES)), newcomer)]
        assert [fault for replica in replicas for fault in integrity_check(replica)] == []
        wanted = content(replicas[-1])
        for replica in replicas[:-1]:
            assert content(replica) == wanted, f"{replica} is not what the log leads to"


def storm(fault: Callable[[Storm], None], times: int, nodes: Nodes = three_nodes) -> None:
    """Let the servers fail `times` times while the workers continue, and judge the result."""
    with _storm(nodes) as under_way:
        under_way.begin()
        for _ in range(times):
            fault(under_way)
        under_way.until_all_go_on()
        under_way.end()
        under_way.judge(times)


@contextmanager
def _storm(nodes: Nodes) -> Generator[Storm]:
    seed = int(os.environ.get("COVEY_SEED") or randrange(2**32))
    print(f"\nCOVEY_SEED={seed} repeats the choices of this run")
    folder = Path(tempfile.mkdtemp(prefix="covey-storm-"))  # not a folder of pytest: the paths of sockets must be short
    (folder / "diaries").mkdir()
    try:
        with nodes(folder / "nodes") as cluster, nursery("tests.chaos.worker", folder) as workers:
            yield Storm(cluster, folder, workers, Random(seed))
    except BaseException:
        print(f"the servers' files, the replicas and the workers' diaries are kept in {folder}")
        raise
    shutil.rmtree(folder)


def _register(url: str) -> None:
    ports = connect_inline(parse_store_url(url), ())
    services = Services(ports)
    for name, capacity in zip(NAMES, CAPACITIES, strict=True):
        finish(services.directory.register(name, Card(capacity=capacity), Identity(name)))
    let_talk(services)
    finish(ports.close())


def _size(diary: Path) -> int:
    return diary.stat().st_size if diary.is_file() else 0
