"""Values between core and SQLite: instants and JSON as text."""

import json
from datetime import datetime
from typing import Final

from covey.core.times import format_instant

from_json: Final = json.loads

to_instant: Final = datetime.fromisoformat
"""The instant that a text of ours stands for."""

to_text: Final = format_instant


def to_text_or_null(at: datetime | None) -> str | None:
    return None if at is None else to_text(at)


def to_instant_or_none(text: str | None) -> datetime | None:
    return None if text is None else to_instant(text)
