"""The verbs `backup` and `restore`."""

from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Final

from covey.core.reporting import counted
from covey.core.times import format_instant
from covey.engines import engine_of, parse_store_url
from covey.services.care.backup import Backup, Restore
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.credentials import check_whole, refuse_tokens
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.names import claimed_or_user
from covey.surfaces.cli.terminal.progress import ProgressBar, size


def _backup_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--replace", action="store_true", help="write over a file that is there")


def _run_backup(call: Call) -> int:
    check_whole(call.holder, "back up the space")
    file = call.options.file
    backups = Backup(*engine_of(call.url).care.backup(call.url, call.report))
    with ProgressBar(call.output, "backing up") as progress:
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


BACKUP: Final = Verb(
    arguments=_backup_arguments,
    run=_run_backup,
    description="""\
Copy the whole space to one file, a tar: its records up to one moment, and the
attached files. Others go on using the space meanwhile. The file is checked
before it gets its name; until then it is FILE.part. It holds all mail and the
hashes of tokens: keep it as safe as the space.""",
    examples="""\
examples:
  covey backup space.tar
  covey backup /backups/covey-$(date +%F).tar --json
  covey restore space.tar --to sqlite:elsewhere/covey.db""",
)


def _restore_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--to", metavar="URL", help="where to: sqlite:PATH")
    parser.add_argument("--replace", action="store_true", help="replace the space that is there")


def _run_restore(call: Call) -> int:
    options = call.options
    refuse_tokens("a token of the space that is replaced proves nothing in the one that comes")
    if options.to:
        call.open(parse_store_url(options.to))
    actor = claimed_or_user(call)
    with ProgressBar(call.output, "restoring") as progress:
        tell = partial(progress.at, "restoring")
        restore = Restore(*engine_of(call.url).care.restore(call.url))
        done = call.run(restore.restore(options.file, actor, replace=options.replace, tell=tell))
    contents = done.contents
    call.is_first = False  # the output below says so
    if call.output.as_json:
        call.output.json(
            {
                "file": options.file,
                "store": str(call.url),
                "made_at": format_instant(contents.made_at),
                "position": contents.position,
                "counts": dict(contents.counts),
                "blobs": done.blobs,
                "sessions_ended": done.sessions_ended,
            }
        )
        return DONE
    messages, files = counted(contents.counts["messages"], "message"), counted(done.blobs, "file")
    call.output.text(f"{call.url} is as of {format_instant(contents.made_at)[:19].replace('T', ' ')} UTC:")
    call.output.text(f"{messages} and {files}, up to event {contents.position:,}.")
    if done.sessions_ended:
        call.output.note(f"Ended: {counted(done.sessions_ended, 'session')}; what they had not handled is parked.")
    return DONE


RESTORE: Final = Verb(
    arguments=_restore_arguments,
    run=_run_restore,
    description="""\
Make a space from a backup: where --to says, or else where the space is that
would be used. It has everything up to the moment of the backup. Its sessions
are ended, and what they had not handled waits for the next ones. A space that
is there stays, unless you say --replace; while processes use it, it stays in
any case. It changes all at once, or not at all.""",
    examples="""\
examples:
  covey restore space.tar --to sqlite:elsewhere/covey.db
  covey restore space.tar --replace""",
)
