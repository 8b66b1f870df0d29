"""The supervisor: keeps workers busy on one space, and kills them at random."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.chaos.worker import Worker

ROOT = Path(__file__).parents[2]
ANSWER_LIMIT_S = 60.0
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
    def __init__(self, zygote: "subprocess.Popen[bytes]", folder: Path, random: Random) -> None:
        self._zygote = zygote
        self._folder = folder
        self._random = random
        self._started = 0
        self._unread = b""
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
            url=f"sqlite:{self._folder / 'covey.db'}",
            diary=str(self._diaries[slot]),
            seed=self._random.randrange(2**32),
            lives=LIVES[slot],
        )
        return int(self._ask(f"start {json.dumps(worker)}"))

    def _end(self, pid: int) -> None:
        answer = self._ask(f"kill {pid}")
        if answer != "killed":
            self.deaths.append(answer)

    def _ask(self, line: str) -> str:
        assert self._zygote.stdin is not None
        assert self._zygote.stdout is not None
        self._zygote.stdin.write(line.encode() + b"\n")
        self._zygote.stdin.flush()
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self._zygote.stdout], [], [], ANSWER_LIMIT_S)
            assert ready, f"the zygote did not answer to {line} in time"
            chunk = os.read(self._zygote.stdout.fileno(), 4096)
            assert chunk, "the zygote is gone"
            self._unread += chunk
        answer, _, self._unread = self._unread.partition(b"\n")
        return answer.decode()


@contextmanager
def supervised(folder: Path, random: Random) -> Generator[Supervisor]:
    """Give a supervisor; whatever happens, every process that it started is gone at the end."""
    (folder / "diaries").mkdir()
    environment = {**os.environ, "COVEY_RUNTIME_DIR": str(folder / "bells")}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.zygote"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=environment,
    ) as zygote:
        try:
            yield Supervisor(zygote, folder, random)
            assert zygote.stdin is not None
            zygote.stdin.close()
            assert zygote.wait(ANSWER_LIMIT_S) == 0
        finally:
            if zygote.poll() is None:
                # Its end of input makes it kill its workers first; only if it hangs it is killed itself, and its
                # workers end because their parent is gone.
                if zygote.stdin is not None:
                    zygote.stdin.close()
                try:
                    zygote.wait(ANSWER_LIMIT_S)
                except subprocess.TimeoutExpired:
                    zygote.kill()
