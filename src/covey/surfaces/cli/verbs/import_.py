"""covey import."""

import shutil
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from covey.core.errors import Invalid
from covey.core.formats.export import MAX_LINE_BYTES, ExportReader
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.user import actor_or_user
from covey.surfaces.cli.terminal.progress import Progress
from covey.surfaces.cli.verbs.export import document

DESCRIPTION = """\
Take everything that `covey export` wrote into this space. All of it is checked
before anything is changed. The same file again changes nothing, and an import
that was interrupted goes on where it stopped. Sessions that were live there have
ended here; their mail and tasks wait for the next session of their agents.
Agents that are known here keep their cards."""
EXAMPLES = """\
examples:
  covey import space.jsonl
  gunzip -c space.jsonl.gz | covey import - --store sqlite:elsewhere/covey.db"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what `covey export` wrote; - reads stdin")


def run(call: Call) -> int:
    with _opened(call.options.file) as file, Progress(call.output, "checking") as progress:

        async def lines() -> AsyncIterator[bytes]:
            file.seek(0)
            while line := file.readline(MAX_LINE_BYTES):
                yield line

        imported = call.run(call.services.imports.take_in(lines, actor_or_user(call), progress.at))
    summary = imported.summary
    if call.output.as_json:
        call.output.json({"changed": imported.is_new, **document(summary)})
    elif imported.is_new:
        call.output.text(f"Imported {summary.records:,} records, up to event {summary.header.position:,}.")
    else:
        call.output.text(f"All {summary.records:,} records are here already: nothing was changed.")
    return 0


@contextmanager
def _opened(name: str) -> Generator[BinaryIO]:
    """Open the file. It is read twice, so input from a pipe is copied to a temporary file."""
    with ExitStack() as stack:
        try:
            file = sys.stdin.buffer if name == "-" else stack.enter_context(Path(name).open("rb"))
            if not file.seekable():
                pipe, file = file, cast(BinaryIO, stack.enter_context(tempfile.TemporaryFile()))
                _keep(pipe, file)
        except OSError as error:
            raise Invalid("file", name, f"it can't be read: {(error.strerror or str(error)).lower()}") from None
        yield cast(BinaryIO, file)


def _keep(pipe: BinaryIO, file: BinaryIO) -> None:
    """Copy an export from a pipe. Other input is refused after its first line."""
    first = pipe.readline(MAX_LINE_BYTES)
    ExportReader().take(first)
    try:
        file.write(first)
        shutil.copyfileobj(pipe, file)
        file.flush()
    except OSError:
        with suppress(OSError):  # closing would try again to write data that has no room
            file.close()
        raise
