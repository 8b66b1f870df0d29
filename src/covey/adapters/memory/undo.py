"""The undo log: how to take back everything that a commit has changed so far."""

from collections.abc import Callable


class UndoLog:
    """Every change is recorded with its opposite; taking a commit back runs them, last first."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], None]] | None = None

    def begin(self) -> None:
        """Start a commit."""
        self._steps = []

    def record(self, step: Callable[[], None]) -> None:
        """Remember how to take back the change that the caller is about to make. Outside a commit nothing may
        change."""
        if self._steps is None:
            raise RuntimeError("only an operation of a commit may write, and only while it runs")
        self._steps.append(step)

    def keep(self) -> None:
        """End the commit: what it changed stands."""
        self._steps = None

    def undo(self) -> None:
        """End the commit: everything is as it was before."""
        steps, self._steps = self._steps or [], None
        for step in reversed(steps):
            step()
