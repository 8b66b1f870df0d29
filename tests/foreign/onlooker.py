"""An onlooker: reads every file that has the name of a message, all the time, and counts those that are not whole."""

import json
import select
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PAUSE_S = 0.001
"""Between two rounds of whatever a program does: others need the processor too."""
BUSY_PAUSE_S = 0.1
"""The same for one that writes: whoever shares the folder reads all of it, and writes it down."""


def has_ended(pause_s: float = PAUSE_S) -> bool:
    """Tell whether whoever started this program has closed its input, after a pause."""
    ready, _, _ = select.select([sys.stdin], [], [], pause_s)
    return bool(ready) and not sys.stdin.readline()


def watch(root: Path, patterns: Sequence[str]) -> dict[str, Any]:
    """Look until the input ends."""
    looks = 0
    whole: dict[Path, tuple[int, int]] = {}
    broken: list[str] = []
    print("ready", flush=True)
    is_last = False
    while not is_last:
        is_last = has_ended()  # and one more look after that
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
