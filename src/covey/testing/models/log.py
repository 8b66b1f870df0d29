"""The log of requests: what came, in order, and a way to wait for what has not come yet."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

from covey.testing.models.request import ModelRequest


class RequestLog:
    """Written by the server's threads, read by a test in any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: list[ModelRequest] = []
        self._awaited: list[tuple[int, Future[ModelRequest]]] = []

    def enter(self, numbered: Callable[[int], ModelRequest]) -> ModelRequest:
        """Log a request under the next number."""
        with self._lock:
            request = numbered(len(self._requests) + 1)
            self._requests.append(request)
            due = [future for number, future in self._awaited if number == request.number]
        for future in due:
            # A waiter may have given up in the meantime.
            if future.set_running_or_notify_cancel():
                future.set_result(request)
        return request

    def all(self) -> tuple[ModelRequest, ...]:
        """Return everything that came so far."""
        with self._lock:
            return tuple(self._requests)

    def nth(self, number: int) -> Future[ModelRequest]:
        """Return the request of that number, as soon as it comes."""
        future: Future[ModelRequest] = Future()
        with self._lock:
            if number > len(self._requests):
                self._awaited.append((number, future))
                return future
            future.set_result(self._requests[number - 1])
        return future
