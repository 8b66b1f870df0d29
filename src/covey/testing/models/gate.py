"""Gates: the release of a turn event by event, under control of a test and without timeouts."""

from threading import Condition


class Gate:
    """A gate, closed at first. A plain answer passes as one event."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._permits = 0
        self._is_open = False
        self._is_abandoned = False

    def let(self, events: int = 1) -> None:
        """Let a number of events pass, now or as soon as they come."""
        with self._condition:
            self._permits += events
            self._condition.notify_all()

    def open(self) -> None:
        """Let everything pass from now on."""
        with self._condition:
            self._is_open = True
            self._condition.notify_all()

    def abandon(self) -> None:
        """Wake all waiting threads without a permit: the model is being closed."""
        with self._condition:
            self._is_abandoned = True
            self._condition.notify_all()

    def wait(self) -> bool:
        """Wait for a permit for one event. Return False if the gate was abandoned."""
        with self._condition:
            self._condition.wait_for(lambda: self._is_open or self._permits > 0 or self._is_abandoned)
            if self._is_abandoned:
                return False
            self._permits -= 0 if self._is_open else 1
            return True
