"""Progress reports of long preparations, such as reading files or indexing words."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

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
