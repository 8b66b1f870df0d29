"""Parts of a task or of an update: text, data and files."""

import json
from argparse import ArgumentParser

from covey.core.errors import Invalid
from covey.core.ledger.message import DataPart, Part
from covey.core.plain import plain
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.drafts import text_parts


def part_arguments(parser: ArgumentParser) -> None:
    """Add the options for files and data."""
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="attach a snapshot of a file")
    parser.add_argument("--data", metavar="JSON", help="data for programs, beside the text")


def parts_of(call: Call, text: str | None) -> tuple[Part, ...]:
    """Return the parts that a call describes. With data or files, the text may be missing."""
    options = call.options
    has_more = bool(options.file) or options.data is not None
    parts: list[Part] = [*text_parts(text, call.output, has_files=has_more)]
    if options.data is not None:
        parts.append(DataPart(_data(options.data)))
    parts += [call.run(call.services.attachments.snapshot(path)) for path in options.file]
    return tuple(parts)


def _data(text: str):
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise Invalid("data", text, f"it is no JSON: {error.msg.lower()} at character {error.pos + 1}") from None
    except RecursionError:
        raise Invalid("data", text, "it is nested too deep") from None
    return plain(value, "data")
