"""Commands of the command line for tests: in this process, or each as its own process."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

LIMIT_S = 20.0
WOKEN_ONLY = """
import covey.core.limits
covey.core.limits.RECHECK_SECONDS = 3600.0
from covey.surfaces.cli.process import run
raise SystemExit(run())
"""


class Said(NamedTuple):
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def json_lines(self) -> Sequence[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


class Folder:
    """A folder in which each command runs as a process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """HOME is this folder, so that no file of the user is read or written."""
        self.environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(path)}

    def covey(self, *words: str, **environment: str) -> Said:
        """Run a command to its end."""
        return self.run([sys.executable, "-m", "covey", *words], **environment)

    def run(self, command: Sequence[str], **environment: str) -> Said:
        done = subprocess.run(
            command,
            cwd=self.path,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> "Started":
        """Start a command that keeps running."""
        return Started([sys.executable, "-m", "covey", *words], self.path, self.environment)

    def start_woken_only(self, *words: str) -> "Started":
        """Start a command that keeps running and checks for events only when it is woken.

        The interval of its periodic check is longer than any test. Each event that it finds came with a wake-up.
        """
        return Started([sys.executable, "-c", WOKEN_ONLY, *words], self.path, self.environment)


class Started:
    """A running command with pipes for stdout and stderr. The command is killed when the block ends."""

    def __init__(self, command: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._text = {self._fd("out"): "", self._fd("err"): ""}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT_S)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def line(self, stream: str = "out") -> str:
        """Wait for the next line of a stream and return it."""
        descriptor = self._fd(stream)
        ends_at = time.monotonic() + LIMIT_S
        while "\n" not in self._text[descriptor]:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, ends_at - time.monotonic()))
            assert ready, f"no line came within {LIMIT_S} s"
            content = os.read(descriptor, 65_536)
            assert content, f"{stream} ended without another line"
            self._text[descriptor] += content.decode()
        line, _, self._text[descriptor] = self._text[descriptor].partition("\n")
        return line

    def close_stdout(self) -> None:
        """Close the reading end of stdout."""
        assert self.process.stdout is not None
        self.process.stdout.close()

    def end(self) -> Said:
        """Wait until the command ends; return its output since the last line that was read."""
        out, err = self.process.communicate(timeout=LIMIT_S)
        texts = list(self._text.values())
        return Said(self.process.returncode, texts[0] + (out or b"").decode(), texts[1] + (err or b"").decode())

    def _fd(self, stream: str) -> int:
        pipe = self.process.stdout if stream == "out" else self.process.stderr
        assert pipe is not None
        return pipe.fileno()
