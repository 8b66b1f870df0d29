"""`make bench`: run all measurements and print the table.

`--quick` gives rough figures fast; `--only NAME` runs one measurement.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.attention import injection
from bench.cold import cold_inbox, cold_send
from bench.crowd import crowds
from bench.figures import Row, machine, table, write_json
from bench.files import files_growth, files_send, files_wake
from bench.launching import launching
from bench.lookup import lookup
from bench.mcp import mcp_call, mcp_start
from bench.nats import nats_crowd, nats_growth, nats_push, nats_sends
from bench.negotiation import negotiation
from bench.pending import growth
from bench.push import push
from bench.sends import four_processes, one_process
from bench.spawn import spawn_cost
from bench.tasks import four_workers, task_cost, task_growth
from bench.toolkits import toolkits
from bench.waits import waits

Bench = Callable[[Path], Row]


def benches(is_quick: bool) -> dict[str, Bench]:
    """Return all measurements, by their names."""
    seconds = 2.0 if is_quick else 6.0
    return {
        "sends": lambda folder: one_process(folder, seconds),
        "processes": lambda folder: four_processes(folder, seconds),
        "push": lambda folder: push(folder, 200 if is_quick else 2_000),
        "growth": lambda folder: growth(folder, 50_000 if is_quick else 1_000_000),
        "crowd": lambda folder: crowds(folder, 200 if is_quick else 1_000),
        "cold": lambda folder: cold_inbox(folder, 20 if is_quick else 100),
        "cold-send": lambda folder: cold_send(folder, 20 if is_quick else 100),
        "injection": lambda folder: injection(folder, 50 if is_quick else 500),
        "lookup": lambda folder: lookup(folder, 20_000 if is_quick else 200_000, 50 if is_quick else 200),
        "tasks": lambda folder: task_cost(folder, 800 if is_quick else 8_000),
        "task-workers": lambda folder: four_workers(folder, 400 if is_quick else 4_000),
        "task-growth": lambda folder: task_growth(
            folder, 1_000 if is_quick else 10_000, 20_000 if is_quick else 200_000
        ),
        "launching": lambda folder: launching(folder, 100 if is_quick else 500),
        "spawn": lambda folder: spawn_cost(folder, 30 if is_quick else 200),
        "negotiation": lambda folder: negotiation(folder, 100 if is_quick else 1_000),
        "waits": lambda folder: waits(folder, 1_000 if is_quick else 10_000),
        "files-send": lambda folder: files_send(folder, seconds),
        "files-wake": lambda folder: files_wake(folder, 30 if is_quick else 200),
        "files-growth": lambda folder: files_growth(folder, 4_000 if is_quick else 20_000, 20 if is_quick else 60),
        "toolkits": lambda folder: toolkits(),
        "mcp": lambda folder: mcp_call(folder, 200 if is_quick else 1_000),
        "mcp-start": lambda folder: mcp_start(folder, 3 if is_quick else 15),
        "nats-sends": lambda folder: nats_sends(folder, seconds),
        "nats-push": lambda folder: nats_push(folder, 200 if is_quick else 2_000),
        "nats-growth": lambda folder: nats_growth(folder, 20_000 if is_quick else 200_000),
        "nats-crowd": lambda folder: nats_crowd(folder, 200 if is_quick else 1_000),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller and shorter; the figures are rough")
    parser.add_argument(
        "--only", action="append", choices=benches(is_quick=True), help="just this one, and others given so"
    )
    parser.add_argument("--json", type=Path, default=Path("bench/results.json"), help="where the raw figures go")
    options = parser.parse_args()
    rows: list[Row] = []
    for name, bench in benches(options.quick).items():
        if options.only is None or name in options.only:
            print(f"measuring {name} …", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(prefix="covey-bench-") as folder:
                rows.append(bench(Path(folder)))
    write_json(rows, options.json)
    print(table(rows))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
