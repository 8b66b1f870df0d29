"""When a process started: with its id, this tells it from a later process that got the same id."""

import os
import sys
from typing import Final

_STATE: Final = 0
_START: Final = 19
"""The state and the start time (fields 3 and 22) in /proc/<pid>/stat, counted after the name."""

_GONE: Final = ("Z", "X", "x")
"""A zombie runs no more; it only waits to be noticed."""

_boot: str | None = None


def started(pid: int) -> str | None:
    """Return a text that no other process with this id has or will have, or None where no such process runs."""
    if pid <= 0:
        return None
    return started_by_ps(pid) if sys.platform == "darwin" else started_by_proc(pid)


def started_by_proc(pid: int) -> str | None:
    """Return the boot and the tick since then in which the process started."""
    stat = _read(f"/proc/{pid}/stat")
    if stat is None:
        return None
    # The name stands in parentheses and may itself hold spaces and parentheses.
    fields = stat[stat.rfind(")") + 1 :].split()
    if len(fields) <= _START or fields[_STATE] in _GONE:
        return None
    return f"{_boot_id()}/{fields[_START]}"


def started_by_ps(pid: int) -> str | None:
    """Return the date at which the process started, where there is no /proc."""
    import subprocess  # here because it is costly and one platform needs it

    shown = subprocess.run(
        ["/bin/ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)],
        env={"LC_ALL": "C", "TZ": "UTC"},  # the date has to read the same wherever it is asked for
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    ).stdout.split()
    if len(shown) < 2 or shown[0].startswith(_GONE):
        return None
    return " ".join(shown[1:])


def _boot_id() -> str:
    global _boot
    if _boot is None:
        _boot = (_read("/proc/sys/kernel/random/boot_id") or "").strip()
    return _boot


def _read(path: str) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(descriptor, 4096).decode("utf-8", "replace")
    except ProcessLookupError:
        return None
    finally:
        os.close(descriptor)
