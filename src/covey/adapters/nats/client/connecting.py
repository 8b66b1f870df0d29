"""Connecting to NATS: the first time with a limit and a reason; from then on for ever."""

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
"""How often each server is tried again before the first connection counts as failed."""
_FIRST_PAUSE_S: Final = 0.05
RECONNECT_PAUSE_S: Final = 0.25
_CONNECT_S: Final = 4
"""How long one server may take to answer."""
_LEAVE_S: Final = 1.0
_FLUSH_S: Final = 2.0
"""How long a message waits for room among what is still to be sent."""
PING_S: Final = 5
"""After two such times without a sign of life the server counts as gone."""


async def _nothing() -> None:
    return


def _is_worth_saying(record: logging.LogRecord) -> bool:
    """Leave out what asyncio finds odd at the end of every secure connection of this client, and nobody else."""
    return "eof_received() has no effect when using ssl" not in str(record.msg)


async def connected(
    settings: NatsSettings,
    *,
    error_cb: Callable[[Exception], Awaitable[None]] | None = None,
    disconnected_cb: Callable[[], Awaitable[None]] = _nothing,
    reconnected_cb: Callable[[], Awaitable[None]] = _nothing,
    closed_cb: Callable[[], Awaitable[None]] = _nothing,
) -> SteadyClient:
    """Return a connection to one of the servers. Where there is none, the error says why. Later it reconnects by
    itself, however long that takes."""
    logging.getLogger("asyncio").addFilter(_is_worth_saying)
    client = SteadyClient()
    failures: list[Exception] = []
    is_first = True

    async def on_error(error: Exception) -> None:
        if is_first and not client.is_connected:
            failures.append(error)
            if sum(is_final(failure) for failure in failures) >= len(settings.servers):
                raise error  # trying again will not help
        if error_cb is not None:
            await error_cb(error)

    def guarded(text: str) -> Callable[[], str]:
        """Return a secret as something that is given away over a secure connection only, where one was asked for."""

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
    # From here on in turn, from an order that was drawn: whoever leaves a server comes to all others before it again.
    client.options["dont_randomize"] = True
    return client


async def left(client: SteadyClient) -> None:
    """Close a connection for good, within a moment. Its server may be gone, or say nothing: then the client would fail
    halfway, or wait for its socket for ever."""
    try:
        async with asyncio.timeout(_LEAVE_S):
            await client.close()
    except (TimeoutError, OSError, nats.errors.Error):
        pass
    except asyncio.CancelledError:
        # Where it was about to connect again, the client has cancelled what it waits for itself.
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise
    client.cut()


async def go_elsewhere(client: Client) -> None:
    """Leave this server for another one, if there is another."""
    if len(client.servers) > 1:
        await client.force_reconnect()
