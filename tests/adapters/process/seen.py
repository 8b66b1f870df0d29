"""Who is whose parent, as the kernel tells it."""

import os
from pathlib import Path


def parent(pid: int) -> int:
    """Return a process's parent."""
    return int(_stat(pid)[1])


def runs(pid: int) -> bool:
    """Tell whether a process runs. A zombie does not; it is for its parent to reap, and for us no matter where that is
    the system."""
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
    """Return the house that a program's guardian is from."""
    return parent(parent(program))


def children(pid: int) -> list[int]:
    """Return the children of a process, zombies too; not those that Python keeps for workers of contracts."""
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


def holdings() -> tuple[int, int, list[int]]:
    """Return how many descriptors and threads this process has, and its children."""
    descriptors, threads = ([*Path("/proc/self", name).iterdir()] for name in ("fd", "task"))
    return len(descriptors), len(threads), children(os.getpid())
