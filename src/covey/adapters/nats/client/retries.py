"""Retries of a request while the server is temporarily unavailable, with one warning."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

import nats.errors
import nats.js.errors
from nats.aio.client import Client

from covey.adapters.nats.client.connection import change_server
from covey.adapters.nats.client.errors import NO_ROOM

T = TypeVar("T")

TRY_S: Final = 2.0
"""Timeout of one try."""
PAUSE_S: Final = 0.1
SILENT_S: Final = 1.0
"""Waiting time after which the warning is given."""

_TEMPORARY: Final = (
    TimeoutError,
    nats.errors.TimeoutError,
    nats.errors.NoRespondersError,
    nats.errors.ConnectionReconnectingError,
    nats.errors.OutboundBufferLimitError,
    nats.errors.StaleConnectionError,
    nats.js.errors.NoStreamResponseError,
    nats.js.errors.ServiceUnavailableError,
)
NOT_NOW: Final = 503
IN_PROCESS: Final = 10158
"""Error code: the server still processes an earlier try of the same message."""


LEAVE_S: Final = 2 * TRY_S
"""Time without success after which the client moves to another server: this one may be cut off from its cluster without
knowing it."""

_left: WeakKeyDictionary[Client, float] = WeakKeyDictionary()
"""Time at which each client last changed its server. Many requests may wait at once, and one change is enough for
all."""


class RetriesExhausted(Exception):
    """The time limit has passed without a reply from the server."""

    def __init__(self, cause: Exception | None, *, was_sent: bool) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.was_sent = was_sent
        """True if one of the tries may have reached the server."""


class ServerCutOff(TimeoutError):
    """The server has lost contact with its cluster, so the client should change servers."""


class Retries:
    """The retries of one request; on the link's loop."""

    def __init__(self, client: Client, limit_s: float, tell: Callable[[], None]) -> None:
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._ends = self._began + limit_s
        self._tell: Callable[[], None] | None = tell
        self.tries = 0
        """Number of tries that may have reached the server."""

    @property
    def is_long(self) -> bool:
        """True if the request has taken longer than the timeout of one try."""
        return self._loop.time() - self._began >= TRY_S

    async def insist(self, attempt: Callable[[float], Coroutine[Any, Any, T]]) -> T:
        """Return the result of `attempt`, which gets its timeout in seconds. Temporary failures are retried until the
        time limit. Without a connection nothing is tried, so that the client buffers no message to send it later."""
        failure: Exception | None = None
        while (left := self._ends - self._loop.time()) > 0:
            if self._client.is_connected:
                self.tries += 1
                try:
                    return await attempt(min(TRY_S, left))
                except (nats.errors.Error, TimeoutError) as error:
                    if not is_temporary(error):
                        raise
                    failure = error
                    await self._leave(error)
            self._say()
            await asyncio.sleep(min(PAUSE_S, max(left, 0)))
        raise RetriesExhausted(failure, was_sent=self.tries > 0)

    async def _leave(self, failure: Exception) -> None:
        """Move to another server, if the client knows one, after a cut-off or enough time without success."""
        now = self._loop.time()
        since = max(self._began, _left.get(self._client, 0.0))
        if isinstance(failure, ServerCutOff) or now - since >= LEAVE_S:
            _left[self._client] = now
            await change_server(self._client)

    def _say(self) -> None:
        if self._tell is not None and self._loop.time() - self._began >= SILENT_S:
            tell, self._tell = self._tell, None
            tell()


def is_temporary(error: BaseException | None) -> bool:
    """Tell whether an error is temporary, such as during the election of a new leader."""
    if isinstance(error, nats.js.errors.APIError):
        if error.err_code in NO_ROOM:
            return False  # some of these share the code of temporary errors
        if error.code == NOT_NOW or error.err_code == IN_PROCESS:
            return True
    return isinstance(error, _TEMPORARY)
