"""The baseline: append 1 KB to a file and fdatasync it."""

import os
import time
from pathlib import Path

RECORD = b"x" * 1024


def appends(folder: Path, seconds: float, name: str = "raw") -> list[float]:
    """Append and sync for some seconds. Return the duration of each append."""
    descriptor = os.open(folder / name, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    sync = getattr(os, "fdatasync", os.fsync)
    took: list[float] = []
    ends_at = time.perf_counter() + seconds
    try:
        while (began := time.perf_counter()) < ends_at:
            os.write(descriptor, RECORD)
            sync(descriptor)
            took.append(time.perf_counter() - began)
    finally:
        os.close(descriptor)
    return took
