"""covey move."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from covey.core.errors import Invalid, SpaceInUse, SpaceMissing, WouldOverwrite
from covey.core.store_url import StoreUrl
from covey.core.text.wording import counted
from covey.engines import connect_inline, engine_of, parse_store_url
from covey.services.space import Services
from covey.services.transfer.move import Moved, Side, move
from covey.surfaces.cli.advice import advise
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, REFUSED
from covey.surfaces.cli.options.user import claimed_or_user
from covey.surfaces.cli.terminal.progress import Progress
from covey.surfaces.cli.verbs.export import document

DESCRIPTION = """\
Take a space from one store to another, of whatever kind: everything that
`covey export` writes, and also tokens and the secrets of channels. TO has to be
a place where nothing is. Afterwards every message and every file is looked for
there and compared. FROM stays as it was: remove it yourself, once you are sure
that nobody uses it. A move that was interrupted goes on when you run the same
command again. Sessions that are live in FROM have to end first."""
EXAMPLES = """\
examples:
  covey move sqlite:.covey/covey.db sqlite:elsewhere/covey.db
  covey move sqlite:.covey/covey.db 'files:messages?layout=dialogue'"""

_DOING: Final[Mapping[str, str]] = {"checking": "reading", "importing": "moving"}
"""Labels of the two stages of a move, for people."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("source", metavar="FROM", help="the URL of the store where the space is")
    parser.add_argument("target", metavar="TO", help="the URL of the store where it is to be")


def run(call: Call) -> int:
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
                **document(moved.summary),
                "compared": moved.compared._asdict(),
                "missing_files": list(moved.missing),
                "events_since": moved.events_since,
            }
        )
    else:
        _tell(call, moved, source, target)
    return REFUSED if moved.events_since else DONE


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


def _move(call: Call, source: StoreUrl, target: StoreUrl) -> Moved:
    actor = claimed_or_user(call)
    here = Side(str(source), call.ports, call.services, engine_of(source).care.views(source, call.report))
    ports = connect_inline(target, [], call.report)
    there = Side(str(target), ports, Services(ports), engine_of(target).care.views(target, call.report))
    try:
        with Progress(call.output, "reading") as progress:

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


def _tell(call: Call, moved: Moved, source: StoreUrl, target: StoreUrl) -> None:
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
