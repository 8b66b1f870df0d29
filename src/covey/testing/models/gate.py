"""A gate: lets a turn out event by event, when a test says so, and never because time has passed."""

from threading import Condition


class Gate:
    """Closed at first. A plain answer passes as one event."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._permits = 0
        self._is_open = False
        self._is_abandoned = False

    def let(self, events: int = 1) -> None:
        """Let so many events pass, now or as soon as they come."""
        with self._condition:
            self._permits += events
            self._condition.notify_all()

    def open(self) -> None:
        """Let everything pass from now on."""
        with self._condition:
            self._is_open = True
            self._condition.notify_all()

    def abandon(self) -> None:
        """Send away who waits here: the model is being closed."""
        with self._condition:
            self._is_abandoned = True
            self._condition.notify_all()

    def wait(self) -> bool:
        """Wait for leave to pass one event; false when the gate was abandoned."""
        with self._condition:
            self._condition.wait_for(lambda: self._is_open or self._permits > 0 or self._is_abandoned)
            if self._is_abandoned:
                return False
            self._permits -= 0 if self._is_open else 1
            return True
