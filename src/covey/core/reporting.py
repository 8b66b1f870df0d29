"""Reports of something long that comes before what was asked for: files are taken in, words indexed."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

Report = Callable[[str, int, int | None], None]
"""Called now and then: what is done, how much of it is, and of how much where that is known. Where both are the same it
is over. Never raises; on any thread."""


def report_nothing(_what: str, _done: int, _total: int | None) -> None:
    """Stand in where nobody looks."""


class Reporting:
    """`with Reporting(report, "fetching") as reporting: reporting.at(5, 20)`. Where anything was reported, its end is
    too, whatever that is."""

    def __init__(self, report: Report, what: str) -> None:
        self._report = report
        self._what = what
        self._done: int | None = None

    def at(self, done: int, total: int | None = None) -> None:
        """Report how far it is; more is to come."""
        self._done = done
        self._report(self._what, done, total if total is None else max(total, done + 1))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._done is not None:
            self._report(self._what, self._done, self._done)
