"""A real terminal of 80 × 24 for a command: its output and the keys that a person presses."""

import codecs
import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from covey.surfaces.cli.terminal.text import cells
from tests.surfaces.commands import WOKEN_ONLY

LIMIT_S = 20.0
COLUMNS = 80
ROWS = 24
CTRL_C = b"\x03"
CTRL_D = b"\x04"

_TAKE_TERMINAL = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])"""
"""Makes the pseudo-terminal the controlling terminal of the command, as a shell does."""


class Terminal:
    """`with Terminal(words, folder, environment) as t`: a command on a terminal.

    With `captured`, stdout goes to `captured_text` as in $(…), and only stderr is on the terminal. With `woken_only`,
    the command checks for events only when it is woken.
    """

    def __init__(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        *,
        captured: bool = False,
        woken_only: bool = False,
    ) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.shown = ""
        command = ("-c", WOKEN_ONLY) if woken_only else ("-m", "covey")
        self._process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_TERMINAL, sys.executable, *command, *words],
            stdin=slave,
            stdout=subprocess.PIPE if captured else slave,
            stderr=slave,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment},
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(LIMIT_S)
        if self._process.stdout is not None:
            self._process.stdout.close()
        os.close(self._master)

    def until(self, text: str) -> str:
        """Wait until `text` is shown; return all output so far."""
        ends_at = time.monotonic() + LIMIT_S
        while text not in self.shown:
            left = ends_at - time.monotonic()
            assert left > 0, f"{text!r} was not shown within {LIMIT_S} s, but: {self.shown}"
            assert self._read(left), f"{text!r} was not shown, but: {self.shown}"
        return self.shown

    def more(self) -> None:
        """Wait for more output."""
        assert self._read(LIMIT_S), f"it ended, and showed: {self.shown}"

    def press(self, key: bytes) -> None:
        os.write(self._master, key)

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))

    def ends_with(self, code: int) -> None:
        """Wait until the command ends. Fail with its output if it has another exit code."""
        assert self._end() == code, self.shown

    def _end(self) -> int:
        ends_at = time.monotonic() + LIMIT_S
        while self._read(max(0.0, ends_at - time.monotonic())):
            assert time.monotonic() < ends_at, f"it did not end within {LIMIT_S} s, but showed: {self.shown}"
        return self._process.wait(LIMIT_S)

    @property
    def captured_text(self) -> str:
        """The captured stdout of the command. Read it after the command has ended."""
        assert self._process.stdout is not None
        return self._process.stdout.read().decode()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)

    @property
    def lines(self) -> Sequence[str]:
        """The output, line by line."""
        return self.shown.replace("\r", "").splitlines()

    def check_fits(self) -> None:
        """Fail if a line is wider than the terminal.

        The key that the terminal echoes does not count, nor does a path, which cannot be broken.
        """
        wide = [line for line in self.lines if cells(plain(line.replace("^C", ""))) > COLUMNS and " " in line.strip()]
        assert not wide, f"wider than {COLUMNS} columns: {wide}"

    def _read(self, limit: float) -> bool:
        """Read the available output within the limit; return False at the end."""
        ready, _, _ = select.select([self._master], [], [], limit)
        content = b""
        if ready:
            with contextlib.suppress(OSError):  # Linux raises an error when the other side of a terminal is closed.
                content = os.read(self._master, 65_536)
        self.shown += self._decoder.decode(content)
        return bool(content)


def plain(text: str) -> str:
    """Return text without the codes for colours."""
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", text)
