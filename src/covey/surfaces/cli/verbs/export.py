"""covey export."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable

from covey.core.formats.export import Summary
from covey.core.json import Json
from covey.core.times import format_instant
from covey.engines import engine_of
from covey.services.transfer.export import Export
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.terminal.letters import escaped
from covey.surfaces.cli.terminal.progress import Progress
from covey.surfaces.cli.views.export_file import new_file

DESCRIPTION = """\
Write everything that the space holds to a file: agents, mail, debts, tasks, the
journal and the contents of attached files, as they are at one moment. Others
may go on using the space. `covey import` takes the file into another space, on
any store. Secrets are never in it, and hashes of tokens only with --tokens."""
EXAMPLES = """\
examples:
  covey export space.jsonl
  covey export | gzip > space.jsonl.gz
  covey export - | covey import - --store sqlite:elsewhere/covey.db"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="where to; - or nothing writes to stdout")
    parser.add_argument("--replace", action="store_true", help="write over a file that is there")
    parser.add_argument("--tokens", action="store_true", help="hashes of tokens too: tokens then work there as well")


def run(call: Call) -> int:
    path = call.options.file
    if path == "-":
        # Texts of messages could control a terminal.
        write = _write_escaped if sys.stdout.isatty() else sys.stdout.buffer.write
        export = call.run(_write(call, write))
        sys.stdout.buffer.flush()
        call.output.note(_sentence(export.summary, "stdout"))
    else:
        with new_file(path, replace=call.options.replace) as file:
            export = call.run(_write(call, file.write))
        if call.output.as_json:
            call.output.json({"file": path, **document(export.summary), "missing_files": export.missing})
        else:
            call.output.text(_sentence(export.summary, path))
    if export.missing:
        call.output.note(f"{len(export.missing)} attached file(s) are missing in this space, and so in the export.")
    return 0


def _write_escaped(line: bytes) -> None:
    sys.stdout.buffer.write(f"{escaped(line.decode().removesuffix(chr(10)))}\n".encode())


async def _write(call: Call, write: Callable[[bytes], object]) -> Export:
    async with call.services.exports(engine_of(call.url).care.views(call.url, call.report)).open(
        with_tokens=call.options.tokens
    ) as export:
        with Progress(call.output, "exporting", await export.total()) as progress:
            async for line in export.lines():
                write(line)
                progress.step()
    return export


def document(summary: Summary) -> dict[str, Json]:
    """Return a summary of an export, for programs."""
    return {
        "position": summary.header.position,
        "exported_at": format_instant(summary.header.exported_at),
        "records": dict(summary.counts),
        "sha256": summary.digest,
    }


def _sentence(summary: Summary, where: str) -> str:
    return f"Exported {summary.records:,} records, up to event {summary.header.position:,}, to {where}."
