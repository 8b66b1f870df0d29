"""Durability of an acknowledged record, by the settings of the servers that keep it.

A server acknowledges before the data is on disk: by default it syncs every two minutes (`sync_interval`). Only the
server's monitor reports that setting; clients can't read it. So without a monitor the default is assumed.
"""

import json
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from covey.adapters.nats.client.settings import NatsSettings
from covey.ports.store import Survives

DEFAULT_SYNC_S: Final = 120.0
SURE_REPLICAS: Final = 2
"""Replicas from which a record survives the loss of a server. A record is acknowledged when a majority has it: both of
two, or two of three."""
_LIMIT_S: Final = 2.0
_NANO: Final = 1e9


class Sync(NamedTuple):
    """The sync policy of a server."""

    seconds: float = DEFAULT_SYNC_S
    is_always: bool = False
    """True if the server syncs before it acknowledges."""
    is_known: bool = False
    """True if a monitor reported the policy."""


def survives(replicas: int, sync: Sync) -> Survives:
    """Return the kind of failure that an acknowledged record survives."""
    if replicas >= SURE_REPLICAS:
        return Survives.NODE
    return Survives.MACHINE if sync.is_always else Survives.PROCESS


def sync_of(settings: NatsSettings) -> Sync:
    """Return the sync policy that the server's monitor reports; the default without a monitor or a usable reply."""
    if settings.monitor is None:
        return Sync()
    config = _asked(settings.monitor)
    if config is None:
        return Sync()
    seconds = config.get("sync_interval", DEFAULT_SYNC_S * _NANO) / _NANO
    return Sync(seconds, bool(config.get("sync_always")), is_known=True)


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
