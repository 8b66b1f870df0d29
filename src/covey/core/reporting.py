"""Reports to people: counts with their nouns, suggestions for mistyped names, and the progress of long preparations."""

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Final, Self

Report = Callable[[str, int, int | None], None]
"""A callback for progress: the name of the work, the amount done, and the total or None. The work is over when both
numbers are equal. It must not raise, and may be called on any thread."""


def report_nothing(_what: str, _done: int, _total: int | None) -> None:
    """Ignore a progress report."""


class Reporting:
    """A context manager for progress: `with Reporting(report, "fetching") as reporting: reporting.at(5, 20)`. If any
    progress was reported, the end is reported too, even after an error."""

    def __init__(self, report: Report, what: str) -> None:
        self._report = report
        self._what = what
        self._done: int | None = None

    def at(self, done: int, total: int | None = None) -> None:
        """Report progress before the end."""
        self._done = done
        self._report(self._what, done, total if total is None else max(total, done + 1))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._done is not None:
            self._report(self._what, self._done, self._done)


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: `1 message`, `2,000 messages`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


LONGEST: Final = 100
"""The longest name that is compared: a longer one is no typing error, and takes long to compare."""

CLOSE: Final = 0.7
"""The share of letters that match, in order, in two names that are close."""


def closest(wanted: str, known: Iterable[str], limit: int = 3) -> Sequence[str]:
    """Return the known names that are like `wanted`, the most similar first."""
    from difflib import SequenceMatcher  # late: its import takes 7 ms, and only an unknown name needs it

    length = len(wanted)
    if not 0 < length <= LONGEST:
        return ()
    # One wrong letter is always forgiven: in a name of two or three it is more than the usual share.
    enough = max(0.5, min(CLOSE, (length - 1) / length))
    matcher = SequenceMatcher(b=wanted.lower(), autojunk=False)
    scored: list[tuple[float, str]] = []
    for name in known:
        matcher.set_seq1(name.lower())
        # The quick ratio is an upper bound, so few names are compared in full.
        if matcher.quick_ratio() >= enough and (ratio := matcher.ratio()) >= enough:
            scored.append((-ratio, name))
    return [name for _, name in sorted(scored)[:limit]]
