"""The output of a program: progress, forwarded at most once a second, and the printed result.

A result is text within limits, or one JSON object with more fields.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, cast

from covey.core.checks import plain
from covey.core.errors import CoveyError, Invalid
from covey.core.json import Json
from covey.ports.launcher import KeptOutput, OutputLine
from covey.runtime.programs.command import PROGRESS_MARK

LONGEST_TEXT: Final = 128 * 1024
"""Largest text of a result in bytes: it fits into an envelope even if every byte is escaped."""
LAST_LINES: Final = 20
LONGEST_LINES: Final = 4000
"""Largest end of an output, in characters, that a failure shows."""

TEXTS: Final = ("result", "text")
KNOWN: Final = frozenset((*TEXTS, "data", "files", "error", "is_error"))


class Printed(NamedTuple):
    """A parsed result of a program."""

    text: str = ""
    data: Json = None
    files: tuple[str, ...] | None = None
    """The names of the files to attach; None for all."""
    error: str | None = None
    """The failure in the program's own words; None if it has not failed."""


def read_printed(kept: KeptOutput) -> Printed:
    """Parse the result that a program printed on stdout."""
    found = None if kept.left_out else _structured(_without_progress(kept.text))
    return found or Printed(shortened(kept))


def read_file(content: str) -> Printed:
    """Parse the result in `result.json`; raise Invalid if it is not a result."""
    found = _structured(content)
    if found is None:
        raise Invalid("result.json", content[:40], f"it is a JSON object with {', '.join(sorted(KNOWN))}")
    return found


def _structured(text: str) -> Printed | None:
    """Parse a JSON object with at least one known key; return None for any other text."""
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
    """Return the failure that a program reports, in `error` or with `is_error`; None if there is none."""
    error = given.get("error")
    if error:
        return shortened(_whole(error if isinstance(error, str) else json.dumps(error)))
    if given.get("is_error") is not True:
        return None
    return shortened(_whole(said)) if isinstance(said, str) and said else "it says so"


def shortened(kept: KeptOutput) -> str:
    """Return an output within the limit. A longer one loses its middle, and says so."""
    if kept.total > LONGEST_TEXT:
        half = LONGEST_TEXT // 2
        end = kept.tail if kept.left_out else kept.head + kept.tail
        kept = KeptOutput((kept.head + kept.tail)[:half], end[-half:], kept.total)
    return _without_progress(kept.text).strip()


def _whole(text: str) -> KeptOutput:
    content = text.encode(errors="replace")
    return KeptOutput(content, b"", len(content))


def last_lines(text: str) -> str:
    """Return the last lines of an output."""
    lines = "\n".join(_without_progress(text).strip().splitlines()[-LAST_LINES:])
    return lines if len(lines) <= LONGEST_LINES else "…" + lines[-LONGEST_LINES:]


def _without_progress(text: str) -> str:
    if PROGRESS_MARK not in text:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(PROGRESS_MARK))


INTERVAL_S: Final = 1.0
LONGEST: Final = 1000


async def report(lines: AsyncIterator[OutputLine], tell: Callable[[str], Awaitable[None]]) -> None:
    """Forward each line that is marked as progress; if lines arrive faster than once a second, only the latest."""
    news = asyncio.Event()
    latest = ""

    async def hand_on() -> None:
        while True:
            await news.wait()
            news.clear()
            with suppress(CoveyError):  # progress is not worth failing the task; the end of a task is noticed elsewhere
                await tell(latest)
            await asyncio.sleep(INTERVAL_S)

    async with asyncio.TaskGroup() as group:
        handing_on = group.create_task(hand_on())
        async for line in lines:
            if line.text.startswith(PROGRESS_MARK) and (text := line.text.removeprefix(PROGRESS_MARK).strip()):
                latest = text[:LONGEST]
                news.set()
        handing_on.cancel()
