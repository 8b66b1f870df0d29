"""Streams of a space: configuration, creation, state, reads, genuine records and durability.

Streams are created on first use: by default with three replicas, or one if the cluster is too small.

Headers prove that a record was published for its position, and not copied there. A client that may read a stream
directly may name any subject for the reply. If that is a subject of a stream, the server stores the reply. So an agent
could have a message copied onto another agent's subject, past its permissions. But the server checks two headers
whenever it stores a message: the expected stream, and the expected last sequence number. A copy from another stream
can't have carried the first, and a copy of an older record fails the second.

A server acknowledges before the data is on disk: by default it syncs every two minutes (`sync_interval`). Only the
server's monitor reports that setting; clients can't read it. So without a monitor the default is assumed.
"""

import json
from asyncio import gather
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from nats.aio.client import Client
from nats.js.errors import APIError

from covey.adapters.nats.client.connection import Account
from covey.adapters.nats.client.errors import TOO_FEW_SERVERS
from covey.adapters.nats.client.requests import (
    LOOK_S,
    NO_SUCH_STREAM,
    STREAM_EXISTS,
    StreamMessage,
    ask,
    fetched,
    from_leader,
)
from covey.adapters.nats.client.settings import NatsSettings
from covey.core.errors import NatsRefused
from covey.core.formats.nats_names import (
    ANYONE,
    INBOX_STREAM,
    SpaceName,
    bulk_bucket,
    lease_bucket,
    lease_stream,
    log_stream,
    log_subjects,
    snapshot_bucket,
    told_subjects,
)
from covey.core.json import Json
from covey.ports.store import Survives

LARGE: Final = "Covey-Large"
"""The header that names the object of a record that is too large for a message."""

MOST_BYTES: Final = 8 * 1024 * 1024
"""Size limit of a batch, beyond its first record."""


FEW: Final = 32
"""Largest batch from the leader, which returns records one by one."""


class StreamState(NamedTuple):
    created: str
    first: int
    last: int
    replicas: int


def log_config(space: SpaceName) -> Mapping[str, Json]:
    """Return the configuration of the stream."""
    return {
        "name": log_stream(space),
        "description": "The log of a Covey space",
        "subjects": [log_subjects(space)],
        "retention": "limits",
        "compression": "s2",
        "discard": "new",  # a full log refuses new records and keeps the old ones
        "allow_direct": True,
        "deny_delete": True,
        # Followers need no consumer: the server republishes each stored record.
        "republish": {"src": log_subjects(space), "dest": told_subjects(space).replace("*", "{{wildcard(1)}}")},
    }


async def stream_state(client: Client, space: SpaceName, limit_s: float) -> StreamState | None:
    """Return the state of the stream as its leader reports it; None if there is no stream."""
    try:
        said = await ask(client, f"STREAM.INFO.{log_stream(space)}", None, limit_s)
    except APIError as error:
        if error.err_code == NO_SUCH_STREAM:
            return None
        raise
    state = said["state"]
    return StreamState(said["created"], state["first_seq"], state["last_seq"], said["config"]["num_replicas"])


async def records_after(
    client: Client, space: SpaceName, position: int, count: int, limit_s: float
) -> list[StreamMessage]:
    """Return the records after a position, as far as the replica that answers has them: it need not be the leader. If
    no replica answers, return a smaller batch from the leader."""
    wanted: dict[str, Json] = {
        "seq": position + 1,
        "next_by_subj": log_subjects(space),
        "batch": count,
        "max_bytes": MOST_BYTES,
    }
    try:
        return await fetched(client, log_stream(space), wanted, min(limit_s, LOOK_S))
    except TimeoutError:
        return await _from_leader(client, space, position, min(count, FEW), limit_s)


async def _from_leader(
    client: Client, space: SpaceName, position: int, count: int, limit_s: float
) -> list[StreamMessage]:
    found: list[StreamMessage] = []
    while len(found) < count:
        wanted = {"seq": position + 1, "next_by_subj": log_subjects(space)}
        record = await from_leader(client, log_stream(space), wanted, limit_s)
        if record is None:
            break
        found.append(record)
        position = record.seq
    return found


def author_of(subject: str) -> str | None:
    """Return the agent that may append on a subject of the log; None for the subject that is not bound to an agent."""
    principal = subject.rpartition(".")[2]
    return None if principal == ANYONE else principal


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
        reason = f"the space {settings.space} does not exist yet, and only the operator's key can create it"
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


_STREAM: Final = "Nats-Expected-Stream"
_LAST: Final = "Nats-Expected-Last-Sequence"


def position_headers(stream: str, last: int) -> dict[str, str]:
    """Return the headers of a record that has to follow the one at `last`."""
    return {_STREAM: stream, _LAST: str(last)}


def stream_headers(stream: str) -> dict[str, str]:
    """Return the header of a message that is meant for one stream, at any position."""
    return {_STREAM: stream}


def is_for_stream(headers: Mapping[str, str], stream: str) -> bool:
    """Tell whether a message was published for the stream that has it, and so by a client that may write there."""
    return headers.get(_STREAM) == stream


def is_genuine(headers: Mapping[str, str], stream: str, seq: int) -> bool:
    """Tell whether the record at `seq` was published for exactly that position."""
    return headers.get(_STREAM) == stream and headers.get(_LAST) == str(seq - 1)


DEFAULT_SYNC_S: Final = 120.0
SURE_REPLICAS: Final = 2
"""Replicas from which a record survives the loss of a server. A record is acknowledged when a majority has it: both of
two, or two of three."""
_LIMIT_S: Final = 2.0
_NANO: Final = 1e9


class SyncPolicy(NamedTuple):
    """The sync policy of a server."""

    seconds: float = DEFAULT_SYNC_S
    is_always: bool = False
    """True if the server syncs before it acknowledges."""
    is_known: bool = False
    """True if a monitor reported the policy."""


def survives(replicas: int, sync: SyncPolicy) -> Survives:
    """Return the kind of failure that an acknowledged record survives."""
    if replicas >= SURE_REPLICAS:
        return Survives.NODE
    return Survives.MACHINE if sync.is_always else Survives.PROCESS


def sync_of(settings: NatsSettings) -> SyncPolicy:
    """Return the sync policy that the server's monitor reports; the default without a monitor or a usable reply."""
    if settings.monitor is None:
        return SyncPolicy()
    config = _asked(settings.monitor)
    if config is None:
        return SyncPolicy()
    seconds = config.get("sync_interval", DEFAULT_SYNC_S * _NANO) / _NANO
    return SyncPolicy(seconds, bool(config.get("sync_always")), is_known=True)


def _asked(monitor: str) -> dict[str, Any] | None:
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    url = urlsplit(monitor)
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    try:
        connection = kind(url.hostname or "", url.port, timeout=_LIMIT_S)
    except (ValueError, HTTPException):
        return None
    try:
        connection.request("GET", f"{url.path.rstrip('/')}/jsz?config=true")
        answer: Any = json.loads(connection.getresponse().read())
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return answer.get("config")
