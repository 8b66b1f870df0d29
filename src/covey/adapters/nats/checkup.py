"""Health checks of the NATS servers of a space: durability, replicas, clocks and storage."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, cast

from nats.aio.client import Client
from nats.js.errors import APIError

from covey.adapters.nats.client.connection import Account, account_of
from covey.adapters.nats.client.link import Link, call_with_retries
from covey.adapters.nats.client.requests import NO_SUCH_STREAM, ask
from covey.adapters.nats.client.settings import NatsSettings
from covey.adapters.nats.client.steady import server_info
from covey.adapters.nats.log.streams import SyncPolicy, survives, sync_of
from covey.core.care.diagnoses import (
    SERVER_CLOCK_APART,
    SERVER_COPY_BEHIND,
    SERVER_FEW_COPIES,
    SERVER_MAY_LOSE,
    SERVER_ROOM_SHORT,
    STORE_MISSING,
)
from covey.core.care.finding import Area, Examination, Finding
from covey.core.formats.nats_names import bulk_stream, lease_stream, log_stream
from covey.core.identity import Identity
from covey.ports.care import ProgressCallback
from covey.ports.store import Survives

APART_S: Final = 2.0
"""Clock difference from which a finding is reported, in seconds."""
ROOM_SHARE: Final = 0.8
"""Share of the storage limit from which a finding is reported."""
BEHIND: Final = 1000
"""A replica that lags by more than this many messages is reported."""
WIDE: Final = 3
"""Number of replicas with which the loss of one server goes unnoticed."""


class _ServerReport(NamedTuple):
    account: Account
    info: dict[str, Any]
    streams: Sequence[dict[str, Any]]
    servers: int
    """Number of servers in the cluster, as the server reports it; at least 1."""


class ServerCheckup:
    """Health check of the servers that keep a space."""

    area = Area.SERVER

    def __init__(self, settings: NatsSettings) -> None:
        self._settings = settings

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell
        link = Link(self._settings).share()
        try:
            seen = call_with_retries(link, lambda client, limit_s: self._look(client, limit_s), self._settings.limit_s)
        finally:
            link.release()
        if not seen.streams:
            missing = f"there is no space {self._settings.space} on the server"
            return Examination(self.area, missing, (Finding(STORE_MISSING, missing),))
        sync = sync_of(self._settings)
        replicas = _replicas(seen.streams)
        return Examination(self.area, _summary(replicas, sync), tuple(_findings(seen, replicas, sync)))

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        """Do nothing: no finding about a server can be repaired from a space."""

    async def _look(self, client: Client, limit_s: float) -> _ServerReport:
        space = self._settings.space
        streams: list[dict[str, Any]] = []
        for name in (log_stream(space), lease_stream(space), bulk_stream(space)):
            try:
                streams.append(await ask(client, f"STREAM.INFO.{name}", None, limit_s))
            except APIError as error:
                if error.err_code != NO_SUCH_STREAM:
                    raise
        account = await account_of(client, self._settings)
        servers = max(1, len(server_info(client).get("connect_urls") or ()))
        return _ServerReport(account, await ask(client, "INFO", None, limit_s), streams, servers)


def _replicas(streams: Sequence[dict[str, Any]]) -> int:
    return min(int(stream["config"]["num_replicas"]) for stream in streams)


def _summary(replicas: int, sync: SyncPolicy) -> str:
    survived = {
        Survives.NODE: "outlives the loss of a server",
        Survives.MACHINE: "outlives a power cut",
        Survives.PROCESS: "outlives any process",
    }
    keepers = "1 server keeps it" if replicas == 1 else f"{replicas} servers keep it"
    return f"{keepers}; an accepted message {survived[survives(replicas, sync)]}"


def _findings(seen: _ServerReport, replicas: int, sync: SyncPolicy) -> Iterator[Finding]:
    if survives(replicas, sync) is Survives.PROCESS:
        known = f"the server syncs every {sync.seconds:g} s"
        said = known if sync.is_known else "how often the server syncs is not known, by default every 120 s"
        yield Finding(SERVER_MAY_LOSE, f"one server keeps the space; {said}")
    if seen.servers >= WIDE > replicas:
        yield Finding(SERVER_FEW_COPIES, f"{replicas} of {seen.servers} servers keep the space")
    if behind := [line for stream in seen.streams for line in _behind(stream)]:
        yield Finding(SERVER_COPY_BEHIND, f"{len(behind)} copies are not up to date", tuple(behind))
    if abs(seen.account.apart_s) > APART_S:
        yield Finding(SERVER_CLOCK_APART, f"this machine's clock is {seen.account.apart_s:+.1f} s off the server's")
    limit, used = int(seen.info["limits"]["max_storage"]), int(seen.info["storage"])
    if limit > 0 and used > ROOM_SHARE * limit:
        yield Finding(SERVER_ROOM_SHORT, f"{used:,} of {limit:,} bytes are used")


def _behind(stream: dict[str, Any]) -> Iterator[str]:
    cluster = cast(dict[str, Any], stream.get("cluster") or {})
    for copy in cast(list[dict[str, Any]], cluster.get("replicas") or []):
        if copy.get("offline"):
            yield f"{stream['config']['name']} on {copy['name']}: offline"
        elif not copy.get("current") or int(copy.get("lag", 0)) > BEHIND:
            yield f"{stream['config']['name']} on {copy['name']}: {copy.get('lag', 0)} behind"
