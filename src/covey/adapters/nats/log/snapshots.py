"""Snapshots of a log on NATS: objects in a bucket of the space, with a note that names the newest."""

import json
import os
import zlib
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar, cast

import nats.errors
from nats.aio.client import Client

from covey.adapters.nats.client.errors import explained
from covey.adapters.nats.client.link import Link
from covey.adapters.nats.client.requests import ask
from covey.adapters.nats.log.appender import RECORDS
from covey.adapters.nats.log.object_store import ObjectStore
from covey.core.errors import StoreCorrupt
from covey.core.formats.nats_names import log_stream, snapshot_bucket
from covey.disk.files import private
from covey.ports.log import LogSnapshot

T = TypeVar("T")

NOTE: Final = "snapshot"
"""Name of the object that names the newest snapshot."""
CONTENTS: Final = "snapshot/"
LIMIT_S: Final = 600.0
"""Time limit of an upload or a download."""
SPARED: Final = timedelta(minutes=10)
"""Safety margin of the removal of large records' contents. A content is put before its record, so a content that is not
older than a snapshot by this margin is kept."""
FREE_BYTES: Final = 1024 * 1024 * 1024
MAX_RATIO: Final = 200
"""A snapshot may unpack to this many times its size, and to `FREE_BYTES` in any case."""
_STEP: Final = 1024 * 1024
_LEVEL: Final = 1


class NatsSnapshots:
    """`LogSnapshots`."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._settings = link.settings

    def newest(self) -> LogSnapshot | None:
        return self._call(self._newest)

    def fetch(self, snapshot: LogSnapshot, file: str) -> None:
        packed = f"{file}-packed"
        try:
            if not self._call(lambda client: self._bulk(client).get_file(snapshot.name, packed)):
                raise StoreCorrupt(self._settings.name, "its snapshot is missing")
            _unpack(packed, file)
        except (zlib.error, ValueError) as error:
            raise StoreCorrupt(self._settings.name, f"its snapshot is damaged ({error})") from error
        finally:
            _remove(packed)

    def keep(self, file: str, position: int) -> None:
        if not self._link.account.is_owner:
            return  # new replicas trust a snapshot, so agents may not store one
        newest = self.newest()
        if newest is not None and newest.position >= position:
            return
        packed = f"{file}-packed"
        try:
            _pack(file, packed)
            self._call(lambda client: self._keep(client, packed, position))
        finally:
            _remove(packed)
        if newest is not None:
            self._call(lambda client: self._forget(client, newest))

    async def _newest(self, client: Client) -> LogSnapshot | None:
        bulk = self._bulk(client)
        if self._link.account.is_owner:
            await bulk.make()
        content = await bulk.get(NOTE)
        if content is None:
            return None
        try:
            note = cast(Mapping[str, Any], json.loads(content))
            return LogSnapshot(int(note["position"]), str(note["name"]))
        except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
            raise StoreCorrupt(self._settings.name, f"its note of snapshots can't be read ({error})") from error

    async def _keep(self, client: Client, packed: str, position: int) -> None:
        bulk = self._bulk(client)
        name = f"{CONTENTS}{position}"
        await bulk.put_file(name, packed)
        await bulk.put(NOTE, json.dumps({"position": position, "name": name}).encode())

    async def _forget(self, client: Client, kept: LogSnapshot) -> None:
        """Remove the data from before a snapshot: every replica can start from that snapshot."""
        bulk = self._bulk(client)
        own = await bulk.entry(kept.name)
        stream, limit_s = log_stream(self._settings.space), self._settings.limit_s
        await ask(client, f"STREAM.PURGE.{stream}", {"seq": kept.position + 1}, limit_s)
        for entry in await bulk.entries(CONTENTS):
            if int(entry.name.removeprefix(CONTENTS)) < kept.position:
                await bulk.remove(entry)
        records = ObjectStore(client, self._settings)
        await records.make()
        for entry in await records.entries(RECORDS):
            if own is not None and datetime.fromisoformat(entry.at) < datetime.fromisoformat(own.at) - SPARED:
                await records.remove(entry)

    def _bulk(self, client: Client) -> ObjectStore:
        return ObjectStore(client, self._settings, snapshot_bucket(self._settings.space))

    def _call(self, work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        try:
            return self._link.call(work, LIMIT_S)
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise explained(error, self._settings) from error


def _pack(file: str, packed: str) -> None:
    packer = zlib.compressobj(_LEVEL)
    with open(file, "rb") as source, open(packed, "wb", opener=private) as target:
        while content := source.read(_STEP):
            target.write(packer.compress(content))
        target.write(packer.flush())


def _unpack(packed: str, file: str) -> None:
    """Decompress a snapshot in small steps; raise ValueError for a decompression bomb."""
    unpacker = zlib.decompressobj()
    left = max(FREE_BYTES, MAX_RATIO * os.path.getsize(packed))
    with open(packed, "rb") as source, open(file, "wb", opener=private) as target:
        while content := unpacker.unconsumed_tail or source.read(_STEP):
            unpacked = unpacker.decompress(content, _STEP)
            left -= len(unpacked)
            if left < 0:
                raise ValueError(f"it unpacks to more than {MAX_RATIO} times its size")
            target.write(unpacked)
        target.write(unpacker.flush())


def _remove(file: str) -> None:
    if os.path.exists(file):
        os.unlink(file)
