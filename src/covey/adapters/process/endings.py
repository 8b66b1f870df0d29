"""Results of runs, from the outcomes that guardians record."""

import os
from datetime import UTC, datetime
from typing import Any

from covey.adapters.process.guard import folder as files
from covey.ports.launcher import Ended, Ending, Kept


def ended(outcome: files.Outcome, folder: str) -> Ended:
    """Return the result of an outcome, with the outputs in the folder."""
    values: dict[str, Any] = dict(outcome)
    totals = values["totals"]
    return Ended(
        ending=Ending(values["ending"]),
        exit_code=values["exit_code"],
        signal=values["signal"],
        why=values["why"],
        stdout=_kept(folder, files.STDOUT, totals[files.STDOUT]),
        stderr=_kept(folder, files.STDERR, totals[files.STDERR]),
        started_at=datetime.fromtimestamp(values["started_at"], UTC),
        ended_at=datetime.fromtimestamp(values["ended_at"], UTC),
        survivors=tuple(values["survivors"]),
    )


def lost(folder: str, run: str, started_at: float, now: float) -> files.Outcome:
    """Return the outcome of a run whose guardian was killed: only the outputs are known."""
    totals = {name: len(_content(os.path.join(folder, name))) for name in (files.STDOUT, files.STDERR)}
    return {
        "run": run,
        "ending": Ending.LOST.value,
        "exit_code": None,
        "signal": None,
        "why": "",
        "totals": totals,
        "started_at": started_at,
        "ended_at": now,
        "survivors": [],
    }


def _kept(folder: str, name: str, total: int) -> Kept:
    path = os.path.join(folder, name)
    return Kept(_content(path), _content(path + files.TAIL), total)


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # no output was kept, or the folder was cleaned up
        return b""
