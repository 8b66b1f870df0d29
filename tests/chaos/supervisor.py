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
"""How many agents live in each worker; 0 for one without an event loop."""
WORKERS = len(LIVES)
LONGEST_PAUSE_S = 0.06
"""Between two kills."""
IDLE_LIMIT_S = 5.0
"""After so long without a word in any diary the killing goes on: perhaps nobody can do anything."""
LOOK_S = 0.002
ALL_AT_ONCE = 0.02
"""How often all are killed together: nobody is left who has the files open, and the next one has to recover them."""


class Supervisor:
    def __init__(self, workers: Nursery, folder: Path, random: Random, url: str) -> None:
        self._workers = workers
        self._folder = folder
        self._url = url
        self._random = random
        self._started = 0
        self._pids: list[int] = []
        self._diaries: dict[int, Path] = {}
        """What the worker in each place has written."""
        self.kills = 0
        self.spent_s = 0.0
        """How long the killing took."""
        self.deaths: list[str] = []
        """How workers ended that were not killed: none should."""

    def start(self) -> None:
        """Start all workers."""
        self._pids = [self._start(slot) for slot in range(WORKERS)]

    def rampage(self, kills: int) -> None:
        """Kill so many workers, each at a random moment, and start another for each."""
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
        """Wait until the workers have come to do something since the last kill, however slow the machine is."""
        ends_at = time.monotonic() + IDLE_LIMIT_S
        while self._written() <= written and time.monotonic() < ends_at:
            time.sleep(LOOK_S)

    def _written(self) -> int:
        return sum(diary.stat().st_size for diary in self._diaries.values() if diary.exists())

    def stop(self) -> None:
        """Kill those that are left."""
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
    """Give a supervisor of a space; whatever happens, every process that it started is gone at the end."""
    (folder / "diaries").mkdir()
    with nursery("tests.chaos.worker", folder) as workers:
        yield Supervisor(workers, folder, random, url)
