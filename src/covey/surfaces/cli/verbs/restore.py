"""covey restore."""

from argparse import ArgumentParser
from functools import partial

from covey.core.text.wording import counted
from covey.core.times import format_instant
from covey.engines import engine_of, parse_store_url
from covey.services.care.restore import Restore
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.credentials import refuse_tokens
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.user import claimed_or_user
from covey.surfaces.cli.terminal.progress import Progress

DESCRIPTION = """\
Make a space from a backup: where --to says, or else where the space is that
would be used. It has everything up to the moment of the backup. Its sessions
are ended, and what they had not handled waits for the next ones. A space that
is there stays, unless you say --replace; while processes use it, it stays in
any case. It changes all at once, or not at all."""
EXAMPLES = """\
examples:
  covey restore space.tar --to sqlite:elsewhere/covey.db
  covey restore space.tar --replace"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--to", metavar="URL", help="where to: sqlite:PATH")
    parser.add_argument("--replace", action="store_true", help="replace the space that is there")


def run(call: Call) -> int:
    options = call.options
    refuse_tokens("a token of the space that is replaced proves nothing in the one that comes")
    if options.to:
        call.open(parse_store_url(options.to))
    actor = claimed_or_user(call)
    with Progress(call.output, "restoring") as progress:
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
