"""Connections to NATS: the first connect has a time limit and reports its failure, reconnects never give up."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

import nats.errors
from nats.aio.client import Client

from covey.adapters.nats.client.faults import explained, is_final, most_telling
from covey.adapters.nats.client.settings import NatsSettings
from covey.adapters.nats.client.steady import SteadyClient, server_info

_FIRST_TRIES: Final = 1
"""Retries of each server before the first connect counts as failed."""
_FIRST_PAUSE_S: Final = 0.05
RECONNECT_PAUSE_S: Final = 0.25
_CONNECT_S: Final = 4
"""Connect timeout of one server."""
_LEAVE_S: Final = 1.0
_FLUSH_S: Final = 2.0
"""Timeout of a publish that waits for space in the outbound buffer."""
PING_S: Final = 5
"""Ping interval. After two intervals without a sign of life the server counts as lost."""


async def _nothing() -> None:
    return


def _is_worth_saying(record: logging.LogRecord) -> bool:
    """Filter out asyncio's warning at the end of every TLS connection of this client."""
    return "eof_received() has no effect when using ssl" not in str(record.msg)


async def connected(
    settings: NatsSettings,
    *,
    error_cb: Callable[[Exception], Awaitable[None]] | None = None,
    disconnected_cb: Callable[[], Awaitable[None]] = _nothing,
    reconnected_cb: Callable[[], Awaitable[None]] = _nothing,
    closed_cb: Callable[[], Awaitable[None]] = _nothing,
) -> SteadyClient:
    """Connect to one of the servers; the error of a failed connect says why. Later the client reconnects by itself,
    without a limit."""
    logging.getLogger("asyncio").addFilter(_is_worth_saying)
    client = SteadyClient()
    failures: list[Exception] = []
    is_first = True

    async def on_error(error: Exception) -> None:
        if is_first and not client.is_connected:
            failures.append(error)
            if sum(is_final(failure) for failure in failures) >= len(settings.servers):
                raise error  # a retry will not help
        if error_cb is not None:
            await error_cb(error)

    def guarded(text: str) -> Callable[[], str]:
        """Return a callable that gives the secret, only over TLS if the settings ask for TLS."""

        def give() -> str:
            if settings.wants_tls() and not server_info(client).get("tls_required"):
                raise nats.errors.SecureConnWantedError
            return text

        return give

    options = settings.connect_options()
    if settings.token is not None:
        options["token"] = guarded(settings.token.text)
    if settings.user is not None:
        options["user"] = settings.user
        options["password"] = guarded(settings.password.text if settings.password is not None else "")
    try:
        async with asyncio.timeout(settings.limit_s):
            await client.connect(
                name="covey",
                error_cb=on_error,
                disconnected_cb=disconnected_cb,
                reconnected_cb=reconnected_cb,
                closed_cb=closed_cb,
                connect_timeout=_CONNECT_S,
                max_reconnect_attempts=_FIRST_TRIES,
                reconnect_time_wait=_FIRST_PAUSE_S,  # pyright: ignore[reportArgumentType] # any number will do
                ping_interval=PING_S,
                flush_timeout=_FLUSH_S,
                **options,
            )
    except (nats.errors.Error, OSError, TimeoutError) as error:
        await left(client)
        cause = most_telling([*failures, error]) or error
        raise explained(cause, settings) from error
    except BaseException:  # cancelled, because the program ends or the space is closed
        client.cut()
        raise
    if settings.wants_tls() and not server_info(client).get("tls_required"):
        await left(client)
        raise explained(nats.errors.SecureConnWantedError(), settings)
    is_first = False
    client.options["max_reconnect_attempts"] = -1
    client.options["reconnect_time_wait"] = RECONNECT_PAUSE_S
    # From here on the servers are tried in turn, in an order that was shuffled once: a client that leaves a server
    # tries all other servers before it returns.
    client.options["dont_randomize"] = True
    return client


async def left(client: SteadyClient) -> None:
    """Close a connection for good, within a second. If the server is gone or silent, nats-py would fail halfway or wait
    for its socket without a limit."""
    try:
        async with asyncio.timeout(_LEAVE_S):
            await client.close()
    except (TimeoutError, OSError, nats.errors.Error):
        pass
    except asyncio.CancelledError:
        # If nats-py was about to reconnect, it has cancelled a task that it awaits itself.
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise
    client.cut()


async def go_elsewhere(client: Client) -> None:
    """Reconnect to another server, if the client knows one."""
    if len(client.servers) > 1:
        await client.force_reconnect()
