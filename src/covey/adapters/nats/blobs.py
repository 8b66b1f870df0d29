"""Blobs of a space on many machines: the server's object store, with a local cache."""

import re
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, Protocol, TypeVar

from nats.aio.client import Client

from covey.adapters.nats.client.connection import MAX_APART_S, Account
from covey.adapters.nats.client.link import Link, call_with_retries
from covey.adapters.nats.leases import Leases
from covey.adapters.nats.log.object_store import ObjectEntry, ObjectStore
from covey.core.errors import BlobMissing, StoreCorrupt
from covey.ports.blobs import KEPT_S, Blobs

T = TypeVar("T")

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_FOLDER: Final = "blob/"
_FRESH_S: Final = 60.0
"""A blob that was touched within this time is not touched again."""
_LONG_S: Final = 120.0
"""Extra time for the transfer of a large blob."""


class BlobCache(Blobs, Protocol):
    """A cache of blobs on this machine."""

    def drop(self, digest: str) -> None:
        """Remove a copy from the cache."""
        ...


class NatsBlobs:
    """`Blobs` and `BlobUpkeep` on a server. `cache` holds the blobs that this machine has put or read.

    The methods block the calling thread and never suspend, as those of the local cache do. A program with an event loop
    calls them in a thread.
    """

    def __init__(self, link: Link, leases: Leases, cache: BlobCache) -> None:
        self._link = link
        self._leases = leases
        self._cache = cache
        self._is_there = False

    async def put(self, content: bytes) -> str:
        digest = sha256(content).hexdigest()
        self._call(lambda bulk: _put(bulk, digest, content, self._link.account))
        await self._cache.put(content)
        return digest

    async def get(self, digest: str) -> bytes:
        if not _DIGEST.fullmatch(digest):
            raise BlobMissing(digest[:64])
        try:
            return await self._cache.get(digest)
        except BlobMissing:
            content = self._call(lambda bulk: _get(bulk, digest))
        if content is None or sha256(content).hexdigest() != digest:
            raise BlobMissing(digest)
        await self._cache.put(content)
        return content

    async def has(self, digest: str) -> bool:
        """Tell whether the server has the blob, and mark the blob as used. `get` checks the hash; this does not."""
        return bool(_DIGEST.fullmatch(digest)) and self._call(lambda bulk: _has(bulk, digest))

    async def digests(self) -> Sequence[str]:
        entries = self._call(lambda bulk: bulk.entries(_FOLDER))
        return [entry.name.removeprefix(_FOLDER) for entry in entries]

    async def remove(self, digest: str) -> bool:
        if not _DIGEST.fullmatch(digest):
            return True
        entry = self._call(lambda bulk: bulk.entry(f"{_FOLDER}{digest}"))
        if entry is None:
            return True
        if not self._link.account.is_owner or _age(entry) < KEPT_S + _FRESH_S + MAX_APART_S:
            return False
        with self._leases.kept("remove"):
            # A holder writes its key before it looks for removers, and a remover writes its key before it looks for
            # holders. So at least one of the two sees the other.
            is_gone = not self._leases.keys("*.hold.*") and self._call(lambda bulk: bulk.remove(entry))
        if is_gone:
            self._cache.drop(digest)
        return is_gone

    def hold(self) -> AbstractContextManager[None]:
        return self._hold()

    @contextmanager
    def _hold(self) -> Generator[None]:
        with self._leases.kept("hold"):
            self._leases.until_gone("*.remove.*")
            yield

    def _call(self, work: Callable[[ObjectStore], Coroutine[Any, Any, T]]) -> T:
        async def attempt(client: Client, limit_s: float) -> T:
            bulk = ObjectStore(client, self._link.settings, limit_s=limit_s)
            if not self._is_there:
                await bulk.make(self._link.account)
                self._is_there = True
            return await work(bulk)

        return call_with_retries(self._link, attempt, self._link.settings.limit_s, _LONG_S)


async def _put(bulk: ObjectStore, digest: str, content: bytes, account: Account) -> None:
    entry = await bulk.entry(f"{_FOLDER}{digest}")
    if entry is not None and await _is_whole(bulk, digest):
        await _use(bulk, entry)
    else:
        await bulk.put(f"{_FOLDER}{digest}", content, is_owner=account.is_owner)


async def _is_whole(bulk: ObjectStore, digest: str) -> bool:
    content = await _get(bulk, digest)
    return content is not None and sha256(content).hexdigest() == digest


async def _get(bulk: ObjectStore, digest: str) -> bytes | None:
    try:
        return await bulk.get(f"{_FOLDER}{digest}")
    except StoreCorrupt:
        return None


async def _has(bulk: ObjectStore, digest: str) -> bool:
    entry = await bulk.entry(f"{_FOLDER}{digest}")
    if entry is not None:
        await _use(bulk, entry)
    return entry is not None


async def _use(bulk: ObjectStore, entry: ObjectEntry) -> None:
    if _age(entry) > _FRESH_S:
        await bulk.touch(entry)


def _age(entry: ObjectEntry) -> float:
    """Return the seconds since the last use of a blob; 0 for a time in the future."""
    return max(0.0, (datetime.now(UTC) - entry.used_at).total_seconds())
