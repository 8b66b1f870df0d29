"""Progress: a bar on stderr during long work, only for a person at a terminal."""

from time import monotonic
from types import TracebackType
from typing import Final, Self

from covey.surfaces.cli.terminal.output import Output

EVERY_SECONDS: Final = 0.1
BAR: Final = 24


class ProgressBar:
    """A progress line, removed when the block ends.

    Use it as `with Progress(output, "exporting", total) as p: p.step(n)`. `total` is the final number of steps, or None
    if it is unknown. In that case only the count is shown.
    """

    def __init__(self, output: Output, label: str, total: int | None = None) -> None:
        self._output = output
        self._label = label
        self._drawn_at: float | None = None
        self.total = total
        self.done = 0

    def step(self, n: int = 1) -> None:
        """Count `n` more steps as done."""
        self.at(self._label, self.done + n, self.total)

    def at(self, label: str, done: int, total: int | None) -> None:
        """Show the present activity with its count and total, for work of several stages."""
        self._label, self.done, self.total = label, done, total
        now = monotonic()
        if self._drawn_at is None or now - self._drawn_at >= EVERY_SECONDS:
            self._drawn_at = now
            self._output.status(bar(self._label, self.done, self.total))

    def end(self) -> None:
        """Remove the line."""
        if self._drawn_at is not None:
            self._drawn_at = None
            self._output.status("")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


def bar(label: str, done: int, total: int | None) -> str:
    """Return the progress on one line."""
    if not total:
        return f"{label} {done:,}"
    share = min(1.0, done / total)
    return f"{label} {'█' * round(share * BAR):░<{BAR}} {share:4.0%}  {done:,} of {total:,}"


_UNITS: Final = ("kB", "MB", "GB", "TB")
_STEP: Final = 1000


def size(count: int) -> str:
    """Return a number of bytes in one unit: 512 B, 4.1 kB, 2.0 GB."""
    if count < _STEP:
        return f"{count} B"
    amount = float(count)
    for unit in _UNITS:
        amount /= _STEP
        if amount < _STEP or unit == _UNITS[-1]:
            return f"{amount:.1f} {unit}"
    raise AssertionError  # unreachable: the last unit takes everything
