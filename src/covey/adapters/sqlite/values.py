"""Values between core and SQLite: instants and JSON as text."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Final

from covey.core.times import format_instant

to_json: Final[Callable[[object], str]] = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode
from_json: Final = json.loads

to_instant: Final = datetime.fromisoformat
"""The instant that a text of ours stands for."""

_latest: Final[list[tuple[datetime | None, str]]] = [(None, "")]


def to_text(at: datetime) -> str:
    """Return an instant as text. The records of one operation mostly bear the same one, so the latest is remembered."""
    known, text = _latest[0]
    if at is not known:
        text = format_instant(at)
        _latest[0] = (at, text)
    return text


def to_text_or_null(at: datetime | None) -> str | None:
    return None if at is None else to_text(at)


def to_instant_or_none(text: str | None) -> datetime | None:
    return None if text is None else to_instant(text)
