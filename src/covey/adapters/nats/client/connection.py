"""Connections to NATS: the first connect has a time limit and reports its failure, reconnects never give up.

The account is the server's description of a connection: its principal, and the limits that a space requires.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, cast

import nats.errors
from nats.aio.client import Client

from covey.adapters.nats.client.errors import explained, is_final, most_telling
from covey.adapters.nats.client.requests import ask
from covey.adapters.nats.client.settings import NatsSettings
from covey.adapters.nats.client.steady import SteadyClient, server_info
from covey.core.errors import ClocksApart, NatsNoJetStream, NatsPayloadSmall, NatsRefused
from covey.core.formats.nats_names import ANYONE, SpaceName, log_subject

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


async def connect(
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
        await disconnect(client)
        cause = most_telling([*failures, error]) or error
        raise explained(cause, settings) from error
    except BaseException:  # cancelled, because the program ends or the space is closed
        client.cut()
        raise
    if settings.wants_tls() and not server_info(client).get("tls_required"):
        await disconnect(client)
        raise explained(nats.errors.SecureConnWantedError(), settings)
    is_first = False
    client.options["max_reconnect_attempts"] = -1
    client.options["reconnect_time_wait"] = RECONNECT_PAUSE_S
    # From here on the servers are tried in turn, in an order that was shuffled once: a client that leaves a server
    # tries all other servers before it returns.
    client.options["dont_randomize"] = True
    return client


async def disconnect(client: SteadyClient) -> None:
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


async def change_server(client: Client) -> None:
    """Reconnect to another server, if the client knows one."""
    if len(client.servers) > 1:
        await client.force_reconnect()


LEAST_PAYLOAD: Final = 512 * 1024
"""Smallest acceptable message size: chunks of large objects, and messages of the peers' wire, have to fit into one
message."""
_TRY_S: Final = 2.0
"""Timeout of one request before its retry."""
MAX_APART_S: Final = 20.0
"""Largest allowed difference between this machine's clock and the server's: well below the shortest lease."""


class Account(NamedTuple):
    """The server's description of this connection."""

    principal: str
    """The agent that this connection may write for; `_` if it may write for all agents."""
    apart_s: float
    """Seconds by which this machine's clock is ahead of the server's."""
    max_payload: int

    @property
    def is_owner(self) -> bool:
        """True if this connection has all rights in the space: to create streams, and to remove unused data."""
        return self.principal == ANYONE


async def account_of(client: Client, settings: NatsSettings, now: Callable[[], datetime] | None = None) -> Account:
    """Return the server's description of this connection; raise an error if the server does not meet the requirements
    of a space."""
    now = now or _now
    loop = asyncio.get_running_loop()
    ends = loop.time() + settings.limit_s
    while True:
        try:
            before = now()
            answer = await client.request("$SYS.REQ.USER.INFO", b"", timeout=_TRY_S)
            after = now()
            await ask(client, "INFO", None, _TRY_S)
            break
        except nats.errors.NoRespondersError as error:
            raise NatsNoJetStream(settings.shown, "JetStream is not enabled") from error
        except (nats.errors.Error, OSError, TimeoutError) as error:
            # While a cluster elects a leader, a request may be lost.
            if not isinstance(error, TimeoutError) or loop.time() > ends:
                raise explained(error, settings) from error
    said = cast(dict[str, Any], json.loads(answer.data))
    server_time = datetime.fromisoformat(said["server"]["time"])
    apart_s = (before + (after - before) / 2 - server_time).total_seconds()
    if abs(apart_s) > MAX_APART_S:
        raise ClocksApart(apart_s, MAX_APART_S)
    if client.max_payload < LEAST_PAYLOAD:
        raise NatsPayloadSmall(settings.shown, client.max_payload, LEAST_PAYLOAD)
    return Account(_principal(said, settings), apart_s, client.max_payload)


def _principal(said: dict[str, Any], settings: NatsSettings) -> str:
    """Return the principal that this connection may write for: one agent, or `_` for all."""
    permissions = cast(dict[str, Any], said["data"].get("permissions") or {}).get("publish")
    if not permissions or "allow" not in permissions:
        return ANYONE
    allowed = cast(list[str], permissions["allow"] or [])
    space = settings.space
    if any(subject in allowed for subject in (">", "covey.>", f"covey.{space}.>", *_whole(space))):
        return ANYONE
    prefix = log_subject(space, "")
    names = [subject.removeprefix(prefix) for subject in allowed if subject.startswith(prefix)]
    if len(names) != 1:
        raise NatsRefused(settings.shown, f"these credentials are not for the space {space}")
    return names[0]


def _whole(space: SpaceName) -> tuple[str, str]:
    return log_subject(space, "*"), log_subject(space, ">")


def _now() -> datetime:
    return datetime.now(UTC)
