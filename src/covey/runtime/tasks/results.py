"""Results: the outcome that a handler of tasks hands in."""

from collections.abc import Mapping
from typing import NamedTuple, cast

from covey.core.checks import MAX_NOTE_CHARS, note
from covey.core.checks import files as check_files
from covey.core.checks import text as check_text
from covey.core.errors import CoveyError, Invalid
from covey.core.json import Json
from covey.core.ledger.message import DataPart, FilePart, Part, TextPart
from covey.core.plain import plain
from covey.runtime.tasks.held import HeldTask

DONE = "Done."
"""The text of a result that has no text, data or files."""


class Result(NamedTuple):
    """The result of a completed task."""

    text: str = ""
    data: Json = None
    files: tuple[FilePart, ...] = ()
    """Snapshots made by `attach`."""


class Failure(NamedTuple):
    """The outcome of a task that can't be done, or went wrong."""

    reason: str
    """The reason, in one sentence."""
    text: str = ""
    """The full text for the delegator; by default the reason."""
    data: Json = None
    files: tuple[FilePart, ...] = ()


Answer = Result | Failure | str | Mapping[str, Json] | None
"""The allowed return values of a handler. None means that the task is done, or that the handler has handed in its
result itself."""


def outcome_of(answer: object) -> Result | Failure:
    """Convert a handler's return value into an outcome."""
    if isinstance(answer, Result | Failure):
        return answer
    if answer is None or isinstance(answer, str):
        return Result(answer or "")
    if isinstance(answer, Mapping):
        return Result(data=cast(Json, dict(cast(Mapping[str, Json], answer))))
    raise Invalid("result", repr(type(answer)), "a handler returns a text, a dict, a Result, a Failure or None")


def failure_of(error: Exception) -> Failure:
    """Convert an error into a failure with its type and message, without a traceback."""
    words = error.message if isinstance(error, CoveyError) else str(error)
    kind = "" if isinstance(error, CoveyError) else type(error).__name__
    told = ": ".join(word for word in (kind, words) if word)
    return Failure(told.encode(errors="replace").decode()[:MAX_NOTE_CHARS])


def parts_of(text: object, data: object, files: object) -> tuple[Part, ...]:
    """Return the parts of an update to the delegator. Without data there is no data part."""
    parts: list[Part] = [TextPart(check_text(text, "text"))]
    if data is not None:
        parts.append(DataPart(plain(data, "data")))
    return (*parts, *check_files(files))


async def hand_in(held: HeldTask, outcome: Result | Failure) -> None:
    """Complete the task, or fail it."""
    if isinstance(outcome, Result):
        has_more = outcome.data is not None or outcome.files
        text = outcome.text or ("" if has_more else DONE)
        await held.complete(parts_of(text, outcome.data, outcome.files))
    else:
        parts = parts_of(outcome.text or outcome.reason, outcome.data, outcome.files)
        await held.fail(note(outcome.reason, "reason"), parts)
