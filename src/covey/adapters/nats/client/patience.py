"""Patience: trying again while a server can't answer for the moment, and saying so once."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

import nats.errors
import nats.js.errors
from nats.aio.client import Client

from covey.adapters.nats.client.connecting import go_elsewhere
from covey.adapters.nats.client.faults import NO_ROOM

T = TypeVar("T")

TRY_S: Final = 2.0
"""How long one try may wait for its answer."""
PAUSE_S: Final = 0.1
SILENT_S: Final = 1.0
"""After how long it is worth saying."""

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
"""The server is still busy with an earlier try of the same message."""


LEAVE_S: Final = 2 * TRY_S
"""After how long in vain another server is tried: this one may be cut off from the others unawares."""

_left: WeakKeyDictionary[Client, float] = WeakKeyDictionary()
"""When each connection last left its server. Many may wait at once, and one of them is enough."""


class Exhausted(Exception):
    """The time is over, and the server did not answer."""

    def __init__(self, cause: Exception | None, *, was_sent: bool) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.was_sent = was_sent
        """Whether the server may have got one of the tries."""


class CutOff(TimeoutError):
    """The server has lost the others: waiting there is no use."""


class Patience:
    """For one request, on the loop of the link."""

    def __init__(self, client: Client, limit_s: float, tell: Callable[[], None]) -> None:
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._ends = self._began + limit_s
        self._tell: Callable[[], None] | None = tell
        self.tries = 0
        """How often the server may have got it."""

    @property
    def is_long(self) -> bool:
        """Whether it has been going on for longer than an answer takes."""
        return self._loop.time() - self._began >= TRY_S

    async def insist(self, attempt: Callable[[float], Coroutine[Any, Any, T]]) -> T:
        """Return what an attempt comes to, given how long it may take; try again where nobody answers, until it is time
        to give up. Nothing is sent without a connection, so that nothing is sent later behind one's back."""
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
        raise Exhausted(failure, was_sent=self.tries > 0)

    async def _leave(self, failure: Exception) -> None:
        """Go to another server, if there is another, where it has been like this for long enough."""
        now = self._loop.time()
        since = max(self._began, _left.get(self._client, 0.0))
        if isinstance(failure, CutOff) or now - since >= LEAVE_S:
            _left[self._client] = now
            await go_elsewhere(self._client)

    def _say(self) -> None:
        if self._tell is not None and self._loop.time() - self._began >= SILENT_S:
            tell, self._tell = self._tell, None
            tell()


def is_temporary(error: BaseException | None) -> bool:
    """Tell whether nobody answers now, as while servers of a cluster choose a new leader."""
    if isinstance(error, nats.js.errors.APIError):
        if error.err_code in NO_ROOM:
            return False  # some of them come with the same code
        if error.code == NOT_NOW or error.err_code == IN_PROCESS:
            return True
    return isinstance(error, _TEMPORARY)
