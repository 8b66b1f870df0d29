"""Salvage of a damaged store, with its output."""

from functools import partial

from covey.engines import engine_of
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.terminal.progress import Progress


def save(call: Call, target: str) -> int:
    """Copy the readable records of the space into a new store, and show the counts."""
    with Progress(call.output, "salvaging") as progress:
        saved = engine_of(call.url).care.salvage(call.url, target, partial(progress.at, "salvaging"))
    if call.output.as_json:
        tables = {name: {"saved": table.saved, "unreadable": table.unreadable} for name, table in saved.items()}
        call.output.json({"store": str(call.url), "file": target, "tables": tables})
        return DONE
    call.output.table(
        ("records", "saved", "unreadable"),
        [(name, f"{table.saved:,}", f"{table.unreadable:,}") for name, table in saved.items()],
        "",
    )
    call.output.text(f"Next: covey doctor --store sqlite:{target}")
    return DONE
