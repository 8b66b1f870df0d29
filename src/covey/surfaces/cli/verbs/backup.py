"""covey backup."""

from argparse import ArgumentParser
from functools import partial
from pathlib import Path

from covey.core.text.wording import counted
from covey.core.times import format_instant
from covey.engines import engine_of
from covey.services.care.backup import Backup
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.credentials import check_whole
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.terminal.progress import Progress, size

DESCRIPTION = """\
Copy the whole space to one file, a tar: its records up to one moment, and the
attached files. Others go on using the space meanwhile. The file is checked
before it gets its name; until then it is FILE.part. It holds all mail and the
hashes of tokens: keep it as safe as the space."""
EXAMPLES = """\
examples:
  covey backup space.tar
  covey backup /backups/covey-$(date +%F).tar --json
  covey restore space.tar --to sqlite:elsewhere/covey.db"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--replace", action="store_true", help="write over a file that is there")


def run(call: Call) -> int:
    check_whole(call.holder, "back up the space")
    file = call.options.file
    backups = Backup(*engine_of(call.url).care.backup(call.url, call.report))
    with Progress(call.output, "backing up") as progress:
        tell = partial(progress.at, "backing up")
        done = call.run(backups.back_up(file, replace=call.options.replace, tell=tell))
    contents, written = done.contents, Path(file).stat().st_size
    if call.output.as_json:
        call.output.json(
            {
                "file": file,
                "store": str(call.url),
                "made_at": format_instant(contents.made_at),
                "position": contents.position,
                "counts": dict(contents.counts),
                "blobs": done.blobs,
                "missing": list(done.missing),
                "bytes": written,
            }
        )
    else:
        messages, files = counted(contents.counts["messages"], "message"), counted(done.blobs, "file")
        call.output.text(f"{file}: {messages} and {files}, up to event {contents.position:,}; {size(written)}.")
    if done.missing:
        call.output.note(f"Missing in the space, and so in the backup: {counted(len(done.missing), 'attached file')}.")
    return DONE
