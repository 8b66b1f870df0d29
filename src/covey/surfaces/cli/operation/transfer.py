"""The verbs that take a space elsewhere: `export`, `import` and `move`."""

import shutil
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, cast

from covey.core.errors import Invalid, SpaceInUse, SpaceMissing, WouldOverwrite
from covey.core.formats.export import MAX_LINE_BYTES, ExportReader, ExportSummary
from covey.core.json import Json
from covey.core.reporting import counted
from covey.core.store_url import StoreUrl
from covey.core.times import format_instant
from covey.engines import connect_inline, engine_of, parse_store_url
from covey.services.space import Services
from covey.services.transfer.exports import Export
from covey.services.transfer.moves import MoveResult, MoveSide, move
from covey.surfaces.cli.advice import advise
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE, REFUSED
from covey.surfaces.cli.files import new_file
from covey.surfaces.cli.options.names import actor_or_user, claimed_or_user
from covey.surfaces.cli.terminal.progress import ProgressBar
from covey.surfaces.cli.terminal.text import escaped


def _export_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="where to; - or nothing writes to stdout")
    parser.add_argument("--replace", action="store_true", help="write over a file that is there")
    parser.add_argument("--tokens", action="store_true", help="hashes of tokens too: tokens then work there as well")


def _run_export(call: Call) -> int:
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
            call.output.json({"file": path, **summary_document(export.summary), "missing_files": export.missing})
        else:
            call.output.text(_sentence(export.summary, path))
    if export.missing:
        call.output.note(f"{len(export.missing)} attached file(s) are missing in this space, and so in the export.")
    return 0


EXPORT: Final = Verb(
    arguments=_export_arguments,
    run=_run_export,
    description="""\
Write everything that the space holds to a file: agents, mail, debts, tasks, the
journal and the contents of attached files, as they are at one moment. Others
may go on using the space. `covey import` takes the file into another space, on
any store. Secrets are never in it, and hashes of tokens only with --tokens.""",
    examples="""\
examples:
  covey export space.jsonl
  covey export | gzip > space.jsonl.gz
  covey export - | covey import - --store sqlite:elsewhere/covey.db""",
)


def _write_escaped(line: bytes) -> None:
    sys.stdout.buffer.write(f"{escaped(line.decode().removesuffix(chr(10)))}\n".encode())


async def _write(call: Call, write: Callable[[bytes], object]) -> Export:
    async with call.services.exports(engine_of(call.url).care.views(call.url, call.report)).open(
        with_tokens=call.options.tokens
    ) as export:
        with ProgressBar(call.output, "exporting", await export.total()) as progress:
            async for line in export.lines():
                write(line)
                progress.step()
    return export


def summary_document(summary: ExportSummary) -> dict[str, Json]:
    """Return a summary of an export, for programs."""
    return {
        "position": summary.header.position,
        "exported_at": format_instant(summary.header.exported_at),
        "records": dict(summary.counts),
        "sha256": summary.digest,
    }


def _sentence(summary: ExportSummary, where: str) -> str:
    return f"Exported {summary.records:,} records, up to event {summary.header.position:,}, to {where}."


def _import_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what `covey export` wrote; - reads stdin")


def _run_import(call: Call) -> int:
    with _opened(call.options.file) as file, ProgressBar(call.output, "checking") as progress:

        async def lines() -> AsyncIterator[bytes]:
            file.seek(0)
            while line := file.readline(MAX_LINE_BYTES):
                yield line

        imported = call.run(call.services.imports.take_in(lines, actor_or_user(call), progress.at))
    summary = imported.summary
    if call.output.as_json:
        call.output.json({"changed": imported.is_new, **summary_document(summary)})
    elif imported.is_new:
        call.output.text(f"Imported {summary.records:,} records, up to event {summary.header.position:,}.")
    else:
        call.output.text(f"All {summary.records:,} records are here already: nothing was changed.")
    return 0


IMPORT: Final = Verb(
    arguments=_import_arguments,
    run=_run_import,
    description="""\
Take everything that `covey export` wrote into this space. All of it is checked
before anything is changed. The same file again changes nothing, and an import
that was interrupted goes on where it stopped. Sessions that were live there have
ended here; their mail and tasks wait for the next session of their agents.
Agents that are known here keep their cards.""",
    examples="""\
examples:
  covey import space.jsonl
  gunzip -c space.jsonl.gz | covey import - --store sqlite:elsewhere/covey.db""",
)


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


_DOING: Final[Mapping[str, str]] = {"checking": "reading", "importing": "moving"}
"""Labels of the two stages of a move, for people."""


def _move_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("source", metavar="FROM", help="the URL of the store where the space is")
    parser.add_argument("target", metavar="TO", help="the URL of the store where it is to be")


def _run_move(call: Call) -> int:
    source, target = parse_store_url(call.options.source), parse_store_url(call.options.target)
    _check_places(source, target)
    call.open(source)
    moved = _move(call, source, target)
    if call.output.as_json:
        call.output.json(
            {
                "from": str(source),
                "to": str(target),
                "changed": moved.is_new,
                **summary_document(moved.summary),
                "compared": moved.compared._asdict(),
                "missing_files": list(moved.missing),
                "events_since": moved.events_since,
            }
        )
    else:
        _tell(call, moved, source, target)
    return REFUSED if moved.events_since else DONE


MOVE: Final = Verb(
    arguments=_move_arguments,
    run=_run_move,
    description="""\
Take a space from one store to another, of whatever kind: everything that
`covey export` writes, and also tokens and the secrets of channels. TO has to be
a place where nothing is. Afterwards every message and every file is looked for
there and compared. FROM stays as it was: remove it yourself, once you are sure
that nobody uses it. A move that was interrupted goes on when you run the same
command again. Sessions that are live in FROM have to end first.""",
    examples="""\
examples:
  covey move sqlite:.covey/covey.db sqlite:elsewhere/covey.db
  covey move sqlite:.covey/covey.db 'files:messages?layout=dialogue'""",
)


def _check_places(source: StoreUrl, target: StoreUrl) -> None:
    """Raise Invalid if a space can't be moved from one URL to the other, and SpaceMissing if there is none."""
    for url in (source, target):
        if not engine_of(url).capabilities.is_lasting:
            raise Invalid("store", str(url), "it ends with this process; name a store that stays")
    if _where(source) == _where(target):
        raise Invalid("store", str(target), "it is the one that is to be moved")
    if not engine_of(source).has_messages(source):
        raise SpaceMissing(str(source), "there is no space to move")


def _where(url: StoreUrl) -> Path | StoreUrl:
    """Return the file of a ledger on this machine, or the absolute URL if there is no file here."""
    engine = engine_of(url)
    path = engine.ledger_path(url)
    return engine.absolute(url) if path is None else Path(path).resolve()


def _move(call: Call, source: StoreUrl, target: StoreUrl) -> MoveResult:
    actor = claimed_or_user(call)
    here = MoveSide(str(source), call.ports, call.services, engine_of(source).care.views(source, call.report))
    ports = connect_inline(target, [], call.report)
    there = MoveSide(str(target), ports, Services(ports), engine_of(target).care.views(target, call.report))
    try:
        with ProgressBar(call.output, "reading") as progress:

            def tell(label: str, done: int, total: int | None) -> None:
                progress.at(_DOING.get(label, label), done, total)

            return call.run(move(here, there, actor, tell))
    except WouldOverwrite as error:
        advise(error, "Name a place where nothing is. `covey export` and `covey import` join two spaces.")
        raise
    except SpaceInUse as error:
        advise(error, "End it (`covey sessions` lists all), then try again; nothing was changed.")
        raise
    finally:
        call.run(ports.close())


def _tell(call: Call, moved: MoveResult, source: StoreUrl, target: StoreUrl) -> None:
    summary, output = moved.summary, call.output
    if moved.is_new:
        output.text(f"Moved {summary.records:,} records, up to event {summary.header.position:,}, to {target}.")
    else:
        output.text(f"All {summary.records:,} records are at {target} already: nothing was changed.")
    counts = [[kind, f"{count:,}"] for kind, count in summary.counts.items()]
    output.table(["RECORD", "COUNT"], counts, "")
    messages, files = counted(moved.compared.messages, "message"), counted(moved.compared.files, "file")
    output.text(f"Compared there: {messages} and {files}.")
    output.text(f"sha256 {summary.digest}")
    if moved.missing:
        output.note(f"{counted(len(moved.missing), 'attached file')} had no content any more, and have none there.")
    if moved.events_since:
        events = counted(moved.events_since, "event")
        output.note(f"{source} has gone on meanwhile: {events} are not at {target}.")
    else:
        output.note(f"{source} is as it was. Remove it once nobody uses it any more.")
