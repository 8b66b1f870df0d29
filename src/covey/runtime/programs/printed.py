"""What a program printed, as a result: text within limits, or one JSON object that says more."""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.plain import plain
from covey.ports.launcher import Kept
from covey.runtime.programs.prompt import PROGRESS_MARK

LONGEST_TEXT: Final = 128 * 1024
"""How many bytes of text a result has: even where each is escaped they fit into an envelope."""
LAST_LINES: Final = 20
LONGEST_LINES: Final = 4000
"""How much of the end of an output tells what went wrong."""

TEXTS: Final = ("result", "text")
KNOWN: Final = frozenset((*TEXTS, "data", "files", "error", "is_error"))


class Printed(NamedTuple):
    """A result as a program gave it."""

    text: str = ""
    data: Json = None
    files: tuple[str, ...] | None = None
    """Those of its files that go along; None for all."""
    error: str | None = None
    """Why it has failed, in its own words; None where it has not."""


def read_printed(kept: Kept) -> Printed:
    """Return what stdout stands for."""
    found = None if kept.left_out else _structured(_without_progress(kept.text))
    return found or Printed(shortened(kept))


def read_file(content: str) -> Printed:
    """Return what a result in a file of its own stands for. Invalid where it is none."""
    found = _structured(content)
    if found is None:
        raise Invalid("result.json", content[:40], f"it is a JSON object with {', '.join(sorted(KNOWN))}")
    return found


def _structured(text: str) -> Printed | None:
    """Return a result from a JSON object with keys that are known here; others are a text like any other."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    given = cast(Mapping[str, Any], found)
    if not KNOWN & given.keys():
        return None
    said = next((given[key] for key in TEXTS if given.get(key) is not None), "")
    files = given.get("files")
    try:
        return Printed(
            text=shortened(_whole(said)) if isinstance(said, str) else "",
            data=plain(given.get("data") if isinstance(said, str) else said, "data"),
            files=tuple(str(name) for name in cast(list[object], files)) if isinstance(files, list) else None,
            error=_error(given, said),
        )
    except Invalid:
        return None


def _error(given: Mapping[str, Any], said: object) -> str | None:
    """Return why a program says that it has failed: `error` says it, or `is_error` of what it said."""
    error = given.get("error")
    if error:
        return shortened(_whole(error if isinstance(error, str) else json.dumps(error)))
    if given.get("is_error") is not True:
        return None
    return shortened(_whole(said)) if isinstance(said, str) and said else "it says so"


def shortened(kept: Kept) -> str:
    """Return an output within the limit. What is longer loses its middle, and says so."""
    if kept.total > LONGEST_TEXT:
        half = LONGEST_TEXT // 2
        end = kept.tail if kept.left_out else kept.head + kept.tail
        kept = Kept((kept.head + kept.tail)[:half], end[-half:], kept.total)
    return _without_progress(kept.text).strip()


def _whole(text: str) -> Kept:
    content = text.encode(errors="replace")
    return Kept(content, b"", len(content))


def last_lines(text: str) -> str:
    """Return the end of what a program printed."""
    lines = "\n".join(_without_progress(text).strip().splitlines()[-LAST_LINES:])
    return lines if len(lines) <= LONGEST_LINES else "…" + lines[-LONGEST_LINES:]


def _without_progress(text: str) -> str:
    if PROGRESS_MARK not in text:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(PROGRESS_MARK))
