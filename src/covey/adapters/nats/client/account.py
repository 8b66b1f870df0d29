"""The account on a NATS server: the principal of this connection, and the requirements of a space."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, cast

import nats.errors
from nats.aio.client import Client

from covey.adapters.nats.client.api import ask
from covey.adapters.nats.client.faults import explained
from covey.adapters.nats.client.settings import NatsSettings
from covey.core.errors import ClocksApart, NatsNoJetStream, NatsPayloadSmall, NatsRefused
from covey.core.formats.nats_names import ANYONE, SpaceName, log_subject

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
