"""covey demo."""

import asyncio
import shlex
import shutil
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from covey.core.errors import Invalid, Unavailable
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.demo.script import STALLED
from covey.surfaces.cli.demo.show import Summary, play
from covey.surfaces.cli.demo.transcript import heading
from covey.surfaces.cli.output import Output
from covey.wiring import STORE_FILE, STORE_FOLDER

DESCRIPTION = """\
Watch six processes on a fresh space in a temporary folder: a question that is answered before its task is committed,
one that is not and keeps it from being committed, one that survives the death of the process that was asked, and work
that a person asks for, that one agent hands to another, and whose result comes back to the person. The words
come from a script; the processes, the kill and every state that is shown are real. It ends by itself."""

LIVELY: Final = 0.35
"""How long a scripted model thinks, in seconds, where a person watches."""
QUICK: Final = 0.01


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help="leave the space, and say how to look around in it")


def run(call: Call) -> int:
    if call.options.store is not None:
        raise Invalid("--store", call.options.store, "the demo makes a space of its own; --keep leaves it")
    try:
        folder = Path(tempfile.mkdtemp(prefix="covey-demo-"))
    except OSError as error:
        raise Unavailable(f"a temporary folder can't be made: {error.strerror}") from error
    url = f"sqlite:{folder / STORE_FOLDER / STORE_FILE}"
    try:
        _open(call.output, url)
        summary = asyncio.run(play(url, call.output, LIVELY if call.output.is_for_a_person else QUICK))
    finally:
        if not call.options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    _close(call.output, summary, folder if call.options.keep else None)
    if summary.disagreements:
        raise Unavailable(f"records and journal disagree in {summary.disagreements} point(s)")
    return 0


def _open(output: Output, url: str) -> None:
    if output.as_json:
        output.json({"event": "space", "store": url})
        output.flush()
        return
    output.text("Six processes share a fresh space: one file, no daemon. Their words are", "bold")
    output.text("scripted; the processes and every state of the ledger are real.", "bold")
    output.text()
    output.text(f"  {url}", "dim")


def _close(output: Output, summary: Summary, kept: Path | None) -> None:
    if output.as_json:
        output.json({"event": "summary", **summary._asdict(), "kept": str(kept) if kept else None})
        return
    states = ", ".join(f"{count} {state}" for state, count in summary.deliveries.items())
    agreement = "the records agree with it" if not summary.disagreements else "the records contradict it"
    output.text()
    output.pieces(*heading("What the ledger says"))
    processes = f"{summary.processes} processes, {summary.killed} of them killed"
    output.text(f"  messages    {summary.messages} in {summary.seconds} s, by {processes}")
    output.text(f"  deliveries  {states}")
    output.text(f"  still owed  {', '.join(summary.owed)} in {STALLED}")
    output.text(f"  journal     {summary.events} events; {agreement}")
    output.text()
    output.text("Try next:")
    for command, what in (*_alias(), *_next(summary, kept)):
        output.pieces((f"  {command:<32}  " if what else f"  {command}", "bold"), (what, "dim"))


def _alias() -> Sequence[tuple[str, str]]:
    """Return what makes `covey` mean this program, where the shell does not find it by itself."""
    if shutil.which("covey") is not None:
        return ()
    own = Path(sys.argv[0]).resolve()
    command = str(own) if own.name == "covey" else f"{sys.executable} -m covey"
    return ((f"alias covey={shlex.quote(command)}", ""),)


def _next(summary: Summary, kept: Path | None) -> Sequence[tuple[str, str]]:
    """Return what to try next, and what it is for."""
    if kept is None:
        return (
            ("covey demo --keep", "the same, and the space stays"),
            ("covey init", "a space of your own, in this folder"),
            ("covey send --from me --to you hi --register", ""),
            ("covey inbox you", ""),
        )
    return (
        (f"cd {kept}", "the space is here until you remove it"),
        ("covey inbox fixer", "what the fixer has not answered"),
        (f"covey gate {STALLED}", "why the commit is refused"),
        ("covey log", "everything that happened"),
        (f"covey receipt {summary.asked}", ""),
    )
