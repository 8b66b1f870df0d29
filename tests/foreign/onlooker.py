"""An onlooker: it reads every message file repeatedly, and counts the partial ones."""

import json
import select
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PAUSE_S = 0.001
"""Pause between two rounds of a program, so that others get the processor."""
BUSY_PAUSE_S = 0.1
"""Pause between two rounds of a program that writes.

Every program of the folder reads all of its files, and Covey stores them.
"""


def has_ended(pause_s: float = PAUSE_S) -> bool:
    """Return whether the parent has closed this program's input, after a pause."""
    ready, _, _ = select.select([sys.stdin], [], [], pause_s)
    return bool(ready) and not sys.stdin.readline()


def watch(root: Path, patterns: Sequence[str]) -> dict[str, Any]:
    """Read the files until the input ends."""
    looks = 0
    whole: dict[Path, tuple[int, int]] = {}
    broken: list[str] = []
    print("ready", flush=True)
    is_last = False
    while not is_last:
        is_last = has_ended()  # followed by one more round
        looks += 1
        for path in (path for pattern in patterns for path in root.glob(pattern)):
            try:
                status = path.stat()
                if whole.get(path) == (version := (status.st_ino, status.st_mtime_ns)):
                    continue
                content = path.read_bytes()
            except OSError:
                continue  # moved meanwhile, or no file
            if _is_whole(content):
                whole[path] = version
            else:
                broken.append(f"{path.relative_to(root)}: {content[:60]!r}")
    return {"looks": looks, "seen": len({path.name for path in whole}), "broken": broken[:20]}


def _is_whole(content: bytes) -> bool:
    try:
        return isinstance(json.loads(content), dict)
    except ValueError:
        return False
