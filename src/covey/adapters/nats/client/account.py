"""The account on a NATS server: for whom it takes this connection, and whether a space can live there."""

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
"""Parts of large contents, and what programs of the peers' wire may send, have to fit into one message."""
_TRY_S: Final = 2.0
"""How long one question may take before it is asked again."""
MAX_APART_S: Final = 20.0
"""How far this machine's clock may be from the server's: well below the shortest lease."""


class Account(NamedTuple):
    """What the server says of this connection."""

    principal: str
    """The agent that the server binds it to; `_` where it may write for everyone."""
    apart_s: float
    """How far this machine's clock is ahead of the server's."""
    max_payload: int

    @property
    def is_owner(self) -> bool:
        """Whether it may do everything in the space: make streams, and remove what nobody needs any more."""
        return self.principal == ANYONE


async def account_of(client: Client, settings: NatsSettings, now: Callable[[], datetime] | None = None) -> Account:
    """Return what the server says of this connection; an error where a space can't live there."""
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
            # While a cluster chooses a leader, a question may just be lost.
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
    """Return for whom the server lets this connection write: for everyone, or for one agent."""
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
