"""The link: one connection to NATS for a process, on a thread with its own event loop.

Short-lived programs have no event loop, and waiting for a server must not block the event loop of a program that has
one. So the client runs here, and other threads call it and wait.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from typing import Any, Final, TypeVar

from nats.aio.client import Client
from nats.errors import Error, NoRespondersError

from covey.adapters.nats.client.connection import Account, account_of, connect, disconnect
from covey.adapters.nats.client.errors import explained
from covey.adapters.nats.client.retries import PAUSE_S, Retries, RetriesExhausted, is_temporary
from covey.adapters.nats.client.settings import NatsSettings
from covey.adapters.nats.client.steady import SteadyClient
from covey.core.errors import CoveyError, NatsUnreachable, StoreClosed
from covey.threads import start_thread

T = TypeVar("T")

STREAMS_S: Final = 2.0
"""Time for which servers without JetStream are retried: a server that is just stopping looks like one."""
CLOSE_LIMIT_S: Final = 5.0


class Link:
    """A shared connection, counted by its users. The first call connects, the client reconnects by itself, and the last
    `release` closes the connection."""

    def __init__(self, settings: NatsSettings) -> None:
        self.settings = settings
        self._guard = Lock()
        self._users = 0
        self._is_closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._connecting: asyncio.Lock | None = None
        self._client: SteadyClient | None = None
        self._account: Account | None = None
        self._reconnected: list[Callable[[], None]] = []
        self._owed: set[Future[None]] = set()
        self._started_soon: set[asyncio.Task[Any]] = set()
        """References that keep running tasks from garbage collection."""
        self._disconnected: list[Callable[[], None]] = []

    def share(self) -> "Link":
        """Add a user of the link."""
        with self._guard:
            self._users += 1
        return self

    def release(self) -> None:
        """Remove a user; the last one closes the link. Blocks, so an event loop must not call this."""
        with self._guard:
            self._users -= 1
            is_last = self._users <= 0 and not self._is_closed
            self._is_closed = self._is_closed or is_last
        if is_last:
            self._end()

    def call(self, work: Callable[[Client], Coroutine[Any, Any, T]], limit_s: float) -> T:
        """Run a coroutine on the client, and block until its result. Its exceptions are raised here. After the time
        limit the coroutine is cancelled, and NatsUnreachable is raised."""
        running = asyncio.run_coroutine_threadsafe(self._run(work), self._started())
        return self._result(running, limit_s)

    def post(self, call: Callable[[], None]) -> None:
        """Schedule a call on the link's thread, without waiting for it."""
        self._started().call_soon_threadsafe(call)

    @property
    def client(self) -> Client | None:
        """The client, or None before the first connect; for code on the link's thread."""
        return self._client

    @property
    def owes(self) -> bool:
        """True while work from `owe` is running."""
        return bool(self._owed)

    def begin(self, work: Callable[[Client], Coroutine[Any, Any, None]]) -> Callable[[], None]:
        """Run a coroutine on the client until the link ends or the returned function is called."""
        running = asyncio.run_coroutine_threadsafe(self._run(work), self._started())
        return lambda: _stop(running)

    def owe(self, work: Callable[[Client], Coroutine[Any, Any, None]]) -> None:
        """Run a coroutine on the client that has to end before the next record is written."""
        running = asyncio.run_coroutine_threadsafe(self._run(work), self._started())
        self._owed.add(running)
        running.add_done_callback(self._owed.discard)

    async def settled(self) -> None:
        """Wait until all work from `owe` has ended; on the link's own loop."""
        for owed in tuple(self._owed):
            with suppress(Exception):  # its owner has handled the failure
                await asyncio.wrap_future(owed)

    @property
    def account(self) -> Account:
        """The server's description of this connection. Connects if necessary."""
        if self._account is None:
            self.call(_nothing, self.settings.limit_s)
        assert self._account is not None
        return self._account

    def on_reconnect(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` on the link's thread after each reconnect, until the returned function is called."""
        return _added(self._reconnected, call)

    def on_disconnect(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` on the link's thread whenever the connection is lost, until the returned function is called."""
        return _added(self._disconnected, call)

    def _result(self, running: "Future[T]", limit_s: float) -> T:
        try:
            return running.result(limit_s + self.settings.limit_s if self._client is None else limit_s)
        except TimeoutError:
            if running.done():
                raise
            running.cancel()
            raise NatsUnreachable(self.settings.shown, f"no answer in {limit_s:g} s") from None
        except BaseException:
            running.cancel()  # a signal: the caller no longer waits for the result
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._is_closed:
                raise StoreClosed
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = start_thread(partial(self._work, self._loop), "covey nats")
            return self._loop

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            _cancel_all(loop)
            loop.run_until_complete(self._close())  # a client that connected in the meantime
        finally:
            loop.close()

    async def _run(self, do: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        client = self._client
        if client is None:
            client = await self._connect()
        return await do(client)

    def start(
        self,
        work: Callable[[Client], Coroutine[Any, Any, T]],
        limit_s: float,
        then: Callable[[T | None, BaseException | None], None],
    ) -> None:
        """Run a coroutine on the client, and pass its result or its error to `then`; on the link's thread. After the
        time limit the coroutine is cancelled, and the error is NatsUnreachable."""

        async def tell() -> None:
            ends = asyncio.timeout(limit_s)
            try:
                async with ends:
                    value = await self._run(work)
            except Exception as error:  # noqa: BLE001 - passed to `then`
                late = NatsUnreachable(self.settings.shown, f"no answer in {limit_s:g} s")
                then(None, late if ends.expired() else error)
            else:
                then(value, None)

        def done(task: "asyncio.Task[None]") -> None:
            self._started_soon.discard(task)
            if task.cancelled():
                then(None, NatsUnreachable(self.settings.shown, "the connection was closed"))

        task = asyncio.get_running_loop().create_task(tell())
        self._started_soon.add(task)
        task.add_done_callback(done)

    async def _connect(self) -> SteadyClient:
        if self._connecting is None:
            self._connecting = asyncio.Lock()
        async with self._connecting:
            loop = asyncio.get_running_loop()
            ends_at = loop.time() + self.settings.limit_s
            while self._client is None:
                try:
                    self._client = await self._new_client()
                except CoveyError as error:
                    # A server that is cut off from its cluster can't answer for streams; the next server may.
                    now = loop.time()
                    if not is_temporary(error.__cause__) or now >= ends_at:
                        raise
                    if isinstance(error.__cause__, NoRespondersError):
                        ends_at = min(ends_at, now + STREAMS_S)
                    await asyncio.sleep(PAUSE_S)
            return self._client

    async def _new_client(self) -> SteadyClient:
        client = await connect(
            self.settings,
            error_cb=_ignore,
            disconnected_cb=self._tell_disconnected,
            reconnected_cb=self._tell_reconnected,
        )
        try:
            self._account = await account_of(client, self.settings)
        except BaseException:
            await disconnect(client)
            raise
        return client

    async def _tell_reconnected(self) -> None:
        for call in tuple(self._reconnected):
            call()

    async def _tell_disconnected(self) -> None:
        for call in tuple(self._disconnected):
            call()

    def _end(self) -> None:
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        closing = asyncio.run_coroutine_threadsafe(self._close(), loop)
        with suppress(TimeoutError):
            closing.result(CLOSE_LIMIT_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(CLOSE_LIMIT_S)

    async def _close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await disconnect(client)


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel all tasks of the loop, and wait for their end."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))


async def _ignore(_error: Exception) -> None:
    """Ignore errors of the connection: the next request meets them."""


async def _nothing(_client: Client) -> None:
    """Do nothing; `call` connects first."""


def _stop(running: "Future[None]") -> None:
    running.cancel()


def _added(calls: list[Callable[[], None]], call: Callable[[], None]) -> Callable[[], None]:
    calls.append(call)

    def stop() -> None:
        with suppress(ValueError):
            calls.remove(call)

    return stop


_SLACK_S: Final = 5.0


def call_with_retries(
    link: Link,
    attempt: Callable[[Client, float], Coroutine[Any, Any, T]],
    limit_s: float,
    last_s: float = 0.0,
) -> T:
    """Return the result of `attempt`, which gets the timeout of each of its requests.

    The whole attempt is retried for up to `limit_s`. An attempt that takes longer by itself has `last_s` more.
    """

    async def insist(client: Client) -> T:
        try:
            return await Retries(client, limit_s, _no_warning).insist(lambda left_s: attempt(client, left_s))
        except RetriesExhausted as error:
            if error.cause is not None:
                raise explained(error.cause, link.settings) from error.cause
            raise NatsUnreachable(link.settings.shown, f"no connection for {limit_s:g} s") from None
        except (Error, OSError, TimeoutError) as error:
            raise explained(error, link.settings) from error

    return link.call(insist, limit_s + last_s + _SLACK_S)


def _no_warning() -> None:
    return
