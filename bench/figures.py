"""Rows of the result: the measurement, its figure, and the ratio to the baseline of the same run."""

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    what: str
    figure: str
    ratio: str
    wanted: str
    raw: dict[str, float]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


def per_second(rate: float) -> str:
    return f"{rate:,.0f} /s"


def machine() -> str:
    """Return a line that describes the machine and the versions of the measurement."""
    import apsw

    cpu = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).exists():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        cpu = names[0] if names else cpu
    return (
        f"{os.cpu_count()} cores ({cpu}), {platform.system()}, Python {platform.python_version()}, "
        f"SQLite {apsw.sqlite_lib_version()}"
    )


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| what | figure | ratio | goal |", "|---|---|---|---|"]
    lines += [f"| {row.what} | {row.figure} | {row.ratio} | {row.wanted} |" for row in rows]
    return "\n".join(lines)


def write_json(rows: Sequence[Row], path: Path) -> None:
    path.write_text(json.dumps({"machine": machine(), "rows": [row._asdict() for row in rows]}, indent=1) + "\n")
