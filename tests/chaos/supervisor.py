"""The supervisor: keeps workers busy on one space, and kills them at random."""

import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.chaos.nursery import Nursery, nursery
from tests.chaos.worker import Worker

LIVES = (0, 0, 1, 2, 3, 3)
"""The number of agents in each worker; 0 for a worker without an event loop."""
WORKERS = len(LIVES)
LONGEST_PAUSE_S = 0.06
"""Between two kills."""
IDLE_LIMIT_S = 5.0
"""After this time without a new diary entry the killing continues: perhaps no worker can make progress."""
LOOK_S = 0.002
ALL_AT_ONCE = 0.02
"""The probability that all workers are killed together. Then no file is open, and the next worker recovers."""


class Supervisor:
    def __init__(self, workers: Nursery, folder: Path, random: Random, url: str) -> None:
        self._workers = workers
        self._folder = folder
        self._url = url
        self._random = random
        self._started = 0
        self._pids: list[int] = []
        self._diaries: dict[int, Path] = {}
        """The diary of the current worker in each slot."""
        self.kills = 0
        self.spent_s = 0.0
        """The total time of the killing."""
        self.deaths: list[str] = []
        """The ends of workers that were not killed: there should be none."""

    def start(self) -> None:
        """Start all workers."""
        self._pids = [self._start(slot) for slot in range(WORKERS)]

    def rampage(self, kills: int) -> None:
        """Kill `kills` workers, each at a random moment, and start another one for each."""
        begun = time.monotonic()
        last = self.kills + kills
        while self.kills < last:
            written = self._written()
            time.sleep(self._random.uniform(0, LONGEST_PAUSE_S))
            self._wait_for_more_than(written)
            slots = [self._random.randrange(WORKERS)]
            if self._random.random() < ALL_AT_ONCE and last - self.kills >= WORKERS:
                slots = list(range(WORKERS))
            for slot in slots:
                self._end(self._pids[slot])
            for slot in slots:
                self._pids[slot] = self._start(slot)
            self.kills += len(slots)
        self.spent_s += time.monotonic() - begun

    def _wait_for_more_than(self, written: int) -> None:
        """Wait until the workers have made progress since the last kill, even on a slow machine."""
        ends_at = time.monotonic() + IDLE_LIMIT_S
        while self._written() <= written and time.monotonic() < ends_at:
            time.sleep(LOOK_S)

    def _written(self) -> int:
        return sum(diary.stat().st_size for diary in self._diaries.values() if diary.exists())

    def stop(self) -> None:
        """Kill the remaining workers."""
        while self._pids:
            self._end(self._pids.pop())

    def _start(self, slot: int) -> int:
        self._started += 1
        self._diaries[slot] = self._folder / "diaries" / f"{self._started:05d}"
        worker = Worker(
            url=self._url,
            diary=str(self._diaries[slot]),
            seed=self._random.randrange(2**32),
            lives=LIVES[slot],
        )
        return self._workers.start(json.dumps(worker))

    def _end(self, pid: int) -> None:
        answer = self._workers.kill(pid)
        if answer != "killed":
            self.deaths.append(answer)


@contextmanager
def supervised(folder: Path, random: Random, url: str) -> Generator[Supervisor]:
    """Provide a supervisor of a space. All processes that it started are always gone at the end."""
    (folder / "diaries").mkdir()
    with nursery("tests.chaos.worker", folder) as workers:
        yield Supervisor(workers, folder, random, url)
