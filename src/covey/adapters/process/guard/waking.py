"""Signals as bytes on a descriptor, so that one `poll` covers them with everything else."""

import os
import signal
from types import FrameType
from typing import Final, Self

_IGNORED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ignored signals, which a terminal or a service manager may send to all processes. The guard ends when its owner does,
not before."""


class Waking:
    """A context that receives some signals while it is open."""

    def __init__(self, *signals: signal.Signals) -> None:
        self._signals = signals

    def __enter__(self) -> Self:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        for number in self._signals:
            signal.signal(number, _note)
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Stop receiving signals."""
        signal.set_wakeup_fd(-1)
        os.close(self._read)
        os.close(self._write)

    def fileno(self) -> int:
        return self._read

    def take(self) -> bytes:
        """Return the numbers of the received signals."""
        try:
            return os.read(self._read, 4096)
        except BlockingIOError:
            return b""


def _note(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: Python has already written the number to the descriptor."""
