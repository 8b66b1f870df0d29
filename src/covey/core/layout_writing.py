"""How a file of ours is written: a line for each field that its readers know, and the whole envelope under our name."""

from collections.abc import Mapping

from covey.core.compact import quote, to_json
from covey.core.errors import CoveyError
from covey.core.json import Json
from covey.core.layout_reading import document_of, object_in
from covey.core.message import Message
from covey.core.wire import decode_object

OURS = "covey"
"""The one field that foreign programs don't have."""


def file_of(fields: Mapping[str, Json], document: str) -> bytes:
    """Return the content of a file with the fields of a layout, whose names need no escapes, and the message itself."""
    # Most values are texts, which need no more than this.
    lines = [
        f'  "{name}": {quote(value) if isinstance(value, str) else to_json(value)}' for name, value in fields.items()
    ]
    lines.append(f'  "{OURS}": {document}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def envelope(content: bytes) -> Message | None:
    """Return the message that a file says it is a copy of, or None. Anybody can write that: it is worth only as much
    as the ledger confirms."""
    try:
        return decode_object(object_in(document_of(content), OURS))
    except CoveyError:
        return None
