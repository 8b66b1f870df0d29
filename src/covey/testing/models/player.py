"""The player: finds the turn that answers a request, and keeps what went wrong in a script."""

from collections.abc import Callable, Iterator
from threading import Lock

from covey.testing.models.refusal import Refusal
from covey.testing.models.request import ModelRequest
from covey.testing.models.script import Ending, Line, Script, Turn, as_turn


class Player:
    """Plays one script for all connections, one request at a time."""

    def __init__(self, script: Script) -> None:
        self._ask: Callable[[ModelRequest], Line] | None = script if callable(script) else None
        self._lines: Iterator[Line] = iter(()) if callable(script) else iter(script)
        self._played = 0
        self._lock = Lock()
        self.error: Exception | None = None
        """The first that the script's own code raised."""

    def line(self, request: ModelRequest) -> Turn | Ending:
        """Return what answers the request; refuse where the script is over or has failed."""
        with self._lock:
            try:
                line = self._ask(request) if self._ask else next(self._lines)
            except StopIteration:
                told = f"the script is over: request {request.number} came, and it had {self._played} turns"
                raise Refusal(told, code="script_over") from None
            except Exception as error:  # It is the test's own code; the model raises it when it closes.
                raise self.failed(error) from error
            self._played += 1
            return as_turn(line)

    def failed(self, error: Exception) -> Refusal:
        """Keep what went wrong in the script, and return what its client is told."""
        self.error = self.error or error
        return Refusal(f"the script failed: {error!r}", code="script_failed")
