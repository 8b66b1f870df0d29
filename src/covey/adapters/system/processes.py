"""When a process started: with its id, this tells it from a later process that got the same id."""

import os
import sys
from typing import Final, NamedTuple

_STATE: Final = 0
_PARENT: Final = 1
_START: Final = 19
"""The state, the parent and the start time (fields 3, 4 and 22) in /proc/<pid>/stat, counted after the name."""

_GONE: Final = ("Z", "X", "x")
"""A zombie runs no more; it only waits to be noticed."""

_boot: str | None = None


class Parent(NamedTuple):
    """The process that started another one, with its name and the program that it runs."""

    pid: int
    name: str
    program: str = ""


def started(pid: int) -> str | None:
    """Return a text that no other process with this id has or will have, or None where no such process runs."""
    if pid <= 0:
        return None
    return started_by_ps(pid) if sys.platform == "darwin" else started_by_proc(pid)


def started_by_proc(pid: int) -> str | None:
    """Return the boot and the tick since then in which the process started."""
    _, fields = _stat(pid)
    if len(fields) <= _START or fields[_STATE] in _GONE:
        return None
    return f"{_boot_id()}/{fields[_START]}"


def _stat(pid: int) -> tuple[str, list[str]]:
    """Return the name of a process's program and what else the kernel tells of it; nothing where it is gone."""
    stat = _read(f"/proc/{pid}/stat") or ""
    # The name stands in parentheses and may itself hold spaces and parentheses.
    return stat[stat.find("(") + 1 : stat.rfind(")")], stat[stat.rfind(")") + 1 :].split()


def started_by_ps(pid: int) -> str | None:
    """Return the date at which the process started, where there is no /proc."""
    shown = _ps(pid, "stat", "lstart").split()
    if len(shown) < 2 or shown[0].startswith(_GONE):
        return None
    return " ".join(shown[1:])


def parent_of(pid: int) -> Parent | None:
    """Return the process that started another one, or took it over; None where there is none that can be seen."""
    parent = parent_by_ps(pid) if sys.platform == "darwin" else parent_by_proc(pid)
    return None if parent is None or parent.pid <= 0 else parent


def parent_by_proc(pid: int) -> Parent | None:
    """Return it as the kernel tells it: the name in up to 15 characters, the program where we may know."""
    _, fields = _stat(pid)
    if len(fields) <= _PARENT:
        return None
    parent = int(fields[_PARENT])
    try:
        program = os.path.basename(os.readlink(f"/proc/{parent}/exe"))
    except OSError:
        program = ""
    return Parent(parent, _stat(parent)[0], program)


def parent_by_ps(pid: int) -> Parent | None:
    """Return it as ps tells it, where there is no /proc: the name is that of the program."""
    shown = _ps(pid, "ppid").strip()
    return Parent(int(shown), os.path.basename(_ps(int(shown), "comm").strip())) if shown.isdecimal() else None


def _ps(pid: int, *columns: str) -> str:
    import subprocess  # here because it is costly and one platform needs it

    return subprocess.run(
        ["/bin/ps", *(word for column in columns for word in ("-o", f"{column}=")), "-p", str(pid)],
        env={"LC_ALL": "C", "TZ": "UTC"},  # dates have to read the same wherever they are asked for
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    ).stdout


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
