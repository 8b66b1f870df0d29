"""Streams of a space, created on first use: by default with three replicas, or one if the cluster is too small."""

from asyncio import gather
from collections.abc import Mapping, Sequence
from typing import Any, Final

from nats.aio.client import Client
from nats.js.errors import APIError

from covey.adapters.nats.client.account import Account
from covey.adapters.nats.client.api import NO_SUCH_STREAM, STREAM_EXISTS, ask
from covey.adapters.nats.client.faults import TOO_FEW_SERVERS
from covey.adapters.nats.client.settings import NatsSettings
from covey.adapters.nats.log.stream import log_config
from covey.core.errors import NatsRefused
from covey.core.formats.nats_names import (
    INBOX_STREAM,
    SpaceName,
    bulk_bucket,
    lease_bucket,
    lease_stream,
    snapshot_bucket,
)
from covey.core.json import Json

USUAL_REPLICAS: Final = 3
_ASK_S: Final = 5.0
"""Timeout of one request."""


async def ensure(
    client: Client, config: Mapping[str, Json], settings: NatsSettings, account: Account | None = None
) -> Mapping[str, Any]:
    """Return the server's description of the stream, and create the stream if it is missing.

    Raise NatsRefused if these credentials may not create it. Other errors are those of the client and the server, so
    that the caller can retry.
    """
    name = config["name"]
    try:
        info = await ask(client, f"STREAM.INFO.{name}", None, min(_ASK_S, settings.limit_s))
        return await _widened(client, info, settings)
    except APIError as error:
        if error.err_code != NO_SUCH_STREAM:
            raise
    if account is not None and not account.is_owner:
        # The server would not answer a request without permission.
        reason = f"the space {settings.space} is not there yet, and only the operator's key makes it"
        raise NatsRefused(settings.shown, reason)
    # All streams of the space at once, because agents' keys can't create any of them later.
    others = [] if name == INBOX_STREAM else [other for other in space_configs(settings.space) if other["name"] != name]
    made, *_ = await gather(*(_made(client, wanted, settings) for wanted in (config, *others)))
    return made


def space_configs(space: SpaceName) -> Sequence[Mapping[str, Json]]:
    """Return the configurations of a space's streams, the log first."""
    buckets = (bulk_bucket(space), snapshot_bucket(space))
    return (log_config(space), lease_config(space), *(bulk_config(bucket) for bucket in buckets))


async def _made(client: Client, config: Mapping[str, Json], settings: NatsSettings) -> Mapping[str, Any]:
    wanted = settings.replicas or USUAL_REPLICAS
    try:
        return await _make(client, config, wanted, settings)
    except APIError as error:
        if settings.replicas is not None or error.err_code not in TOO_FEW_SERVERS:
            raise
        return await _make(client, config, 1, settings)


async def _make(client: Client, config: Mapping[str, Json], replicas: int, settings: NatsSettings) -> Mapping[str, Any]:
    name = config["name"]
    body = {"storage": "file", **config, "num_replicas": replicas}
    try:
        return await ask(client, f"STREAM.CREATE.{name}", body, min(_ASK_S, settings.limit_s))
    except APIError as error:
        if error.err_code != STREAM_EXISTS:
            raise
        return await ask(client, f"STREAM.INFO.{name}", None, settings.limit_s)  # another program was first


async def _widened(client: Client, info: Mapping[str, Any], settings: NatsSettings) -> Mapping[str, Any]:
    """Change the number of replicas if the settings ask for another."""
    wanted = settings.replicas
    if wanted is None or wanted == info["config"]["num_replicas"]:
        return info
    body = {**info["config"], "num_replicas": wanted}
    return await ask(client, f"STREAM.UPDATE.{body['name']}", body, settings.limit_s)


def lease_config(space: SpaceName) -> Mapping[str, Json]:
    """Return the configuration of the lease stream: the newest message of each key, for the lifetime that the message
    sets."""
    return {
        "name": lease_stream(space),
        "subjects": [f"$KV.{lease_bucket(space)}.>"],
        "max_msgs_per_subject": 1,
        "discard": "new",
        "allow_direct": True,
        "allow_rollup_hdrs": True,
        "allow_msg_ttl": True,
        "deny_delete": True,
    }


def bulk_config(bucket: str) -> Mapping[str, Json]:
    """Return the configuration of an object store's stream."""
    return {
        "name": f"OBJ_{bucket}",
        "subjects": [f"$O.{bucket}.C.>", f"$O.{bucket}.M.>"],
        "discard": "new",
        "allow_direct": True,
        "allow_rollup_hdrs": True,
    }
