"""Process trees, read from /proc."""

import os
from pathlib import Path


def parent(pid: int) -> int:
    """Return a process's parent."""
    return int(_stat(pid)[1])


def runs(pid: int) -> bool:
    """Return True if a process runs. A zombie does not run: only its parent still has to reap it."""
    try:
        return _stat(pid)[0] != "Z"
    except OSError:
        return False


def _stat(pid: int) -> list[str]:
    stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    return stat[stat.rfind(")") + 1 :].split()


def guardian_of(program: int) -> int:
    """Return the guardian of a program."""
    return parent(program)


def house_of(program: int) -> int:
    """Return the house that started a program's guardian."""
    return parent(parent(program))


def children(pid: int) -> list[int]:
    """Return the children of a process, including zombies, without those that Python starts for contract workers."""
    found: list[int] = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                if parent(int(place.name)) == pid and b"multiprocessing." not in (place / "cmdline").read_bytes():
                    found.append(int(place.name))
            except OSError:
                continue
    return found


def beneath(pid: int) -> list[int]:
    """Return the descendants of a process."""
    found = [pid]
    for one in found:
        found += children(one)
    return found[1:]


def open_resources() -> tuple[int, int, list[int]]:
    """Return the number of descriptors and of threads of this process, and its children."""
    descriptors, threads = ([*Path("/proc/self", name).iterdir()] for name in ("fd", "task"))
    return len(descriptors), len(threads), children(os.getpid())
