"""The content of the files that Covey writes: a line for each field of the layout, and the whole envelope in a field of
its own."""

from collections.abc import Mapping

from covey.core.compact import quote, to_json
from covey.core.errors import CoveyError
from covey.core.json import Json
from covey.core.layout_reading import document_of, object_in
from covey.core.message import Message
from covey.core.wire import decode_object

OURS = "covey"
"""The field of the envelope. Files of foreign programs do not have it."""


def file_of(fields: Mapping[str, Json], document: str) -> bytes:
    """Return the content of a file: the fields of a layout, whose names need no escapes, and the message as JSON."""
    # Most values are texts, and `quote` is faster for them.
    lines = [
        f'  "{name}": {quote(value) if isinstance(value, str) else to_json(value)}' for name, value in fields.items()
    ]
    lines.append(f'  "{OURS}": {document}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def envelope(content: bytes) -> Message | None:
    """Return the message that a file claims to be a copy of, or None. Any program can write such a claim, so callers
    must compare it with the ledger."""
    try:
        return decode_object(object_in(document_of(content), OURS))
    except CoveyError:
        return None
