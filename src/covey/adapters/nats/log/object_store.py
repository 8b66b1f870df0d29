"""The object store of a space: contents that are too large for one message, by name.

The format is that of NATS object stores, so that the server's tools show it. Reads use no consumers: a client that may
create a consumer could have the server deliver any message to any subject.
"""

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple, cast

from nats.aio.client import Client
from nats.js.errors import APIError

from covey.adapters.nats.client.connection import Account
from covey.adapters.nats.client.requests import (
    WRONG_LAST_SEQUENCE,
    StreamMessage,
    ask,
    fetched,
    publish,
    surely_last_of,
)
from covey.adapters.nats.client.settings import NatsSettings
from covey.adapters.nats.log.streams import bulk_config, ensure, is_for_stream, stream_headers
from covey.core.errors import StoreCorrupt
from covey.core.formats.nats_names import bulk_bucket
from covey.disk.files import private

CHUNK: Final = 128 * 1024
_AT_ONCE: Final = 16
"""Chunks that are in flight at the same time."""
_PAGE: Final = 64
_LAG_S: Final = 0.05
_ROLLUP: Final = {"Nats-Rollup": "sub"}


class ObjectEntry(NamedTuple):
    """The metadata of an object."""

    name: str
    seq: int
    at: str
    """Time of the last put or touch, by the server's clock."""
    about: Mapping[str, Any]

    @property
    def used_at(self) -> datetime:
        """Time of the last put or touch, by the clock of the client that made it."""
        return datetime.fromisoformat(self.about["mtime"])


class ObjectStore:
    """The object store of a space, over one connection and on its event loop.

    Safe for several processes at once: the last put of a name wins. Errors are those of the client and the server.
    """

    def __init__(
        self, client: Client, settings: NatsSettings, bucket: str | None = None, limit_s: float | None = None
    ) -> None:
        self._client = client
        self._settings = settings
        self._limit_s = limit_s or settings.limit_s
        self._bucket = bucket or bulk_bucket(settings.space)
        self._stream = f"OBJ_{self._bucket}"
        self._prefix = f"$O.{self._bucket}"

    async def make(self, account: Account | None = None) -> None:
        """Create the object store if it is missing."""
        await ensure(self._client, bulk_config(self._bucket), self._settings, account)

    async def put(self, name: str, content: bytes, *, is_owner: bool = True) -> None:
        """Store a content under a name; the server has it when this returns. Only the owner can remove the chunks of an
        earlier content of that name; otherwise they remain, without harm."""
        await self._put(name, (content[start : start + CHUNK] for start in range(0, len(content), CHUNK)), is_owner)

    async def put_file(self, name: str, path: str) -> None:
        """Store the content of a file under a name."""
        with open(path, "rb") as file:  # noqa: ASYNC230 — reading a chunk is fast compared with the server's reply
            await self._put(name, iter(lambda: file.read(CHUNK), b""), True)

    async def get(self, name: str) -> bytes | None:
        """Return the content of a name, or None; raise StoreCorrupt if its hash does not match."""
        entry = await self.entry(name)
        return None if entry is None else b"".join([part async for part in self._parts(entry)])

    async def get_file(self, name: str, path: str) -> bool:
        """Write the content of a name into a file; tell whether the name exists. If this raises, the file is
        incomplete."""
        entry = await self.entry(name)
        if entry is not None:
            with open(path, "wb", opener=private) as file:  # noqa: ASYNC230 — as above
                async for part in self._parts(entry):
                    file.write(part)
        return entry is not None

    async def entry(self, name: str) -> ObjectEntry | None:
        """Return the metadata of an object, or None."""
        stored = await surely_last_of(self._client, self._stream, self._subject(name), self._limit_s)
        return None if stored is None else self._found(stored)

    async def entries(self, prefix: str = "") -> Sequence[ObjectEntry]:
        """Return the metadata of all objects whose names start with `prefix`, sorted by name."""
        found: dict[str, ObjectEntry] = {}
        seq = 1
        while page := await self._page(f"{self._prefix}.M.>", seq):
            for stored in page:
                entry = self._found(stored)
                if entry is not None and entry.name.startswith(prefix):
                    found[entry.name] = entry
            seq = page[-1].seq + 1
        return [found[name] for name in sorted(found)]

    async def touch(self, entry: ObjectEntry) -> None:
        """Set the time of last use to now."""
        await self._write_about({**entry.about, "mtime": _now()}, None)

    async def remove(self, entry: ObjectEntry) -> bool:
        """Remove an object unless it was put or touched after `entry` was read; tell whether the object is gone."""
        try:
            seq = await self._write_about({**entry.about, "deleted": True, "size": 0, "chunks": 0}, entry.seq)
        except APIError as error:
            if error.err_code in WRONG_LAST_SEQUENCE:
                return False
            raise
        await self._purge(f"{self._prefix}.C.{entry.about['nuid']}")
        await self._purge(self._subject(entry.name), seq)
        return True

    async def _put(self, name: str, parts: Iterator[bytes], is_owner: bool) -> None:
        before = await self.entry(name)
        part_id = os.urandom(11).hex()
        digest, size, count = sha256(), 0, 0
        under_way: list[asyncio.Task[int]] = []
        try:
            for part in parts:
                digest.update(part)
                size, count = size + len(part), count + 1
                # Chunks are stored in order, because one connection is one line.
                subject = f"{self._prefix}.C.{part_id}"
                sending = publish(self._client, subject, part, stream_headers(self._stream), self._limit_s)
                under_way.append(asyncio.create_task(sending))
                if len(under_way) == _AT_ONCE:
                    await under_way.pop(0)
            await asyncio.gather(*under_way)
        except BaseException:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
            raise
        about = {
            "name": name,
            "bucket": self._bucket,
            "nuid": part_id,
            "size": size,
            "chunks": count,
            "digest": _digest(digest.digest()),
            "mtime": _now(),
            "options": {"max_chunk_size": CHUNK},
        }
        await self._write_about(about, None)
        if before is not None and is_owner:
            await self._purge(f"{self._prefix}.C.{before.about['nuid']}")

    async def _parts(self, entry: ObjectEntry) -> AsyncIterator[bytes]:
        """Yield the chunks of an object in order; raise StoreCorrupt at the end if the hash does not match."""
        digest, seq, rest = sha256(), 1, int(entry.about["chunks"])
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._limit_s
        while rest > 0:
            page = await self._page(f"{self._prefix}.C.{entry.about['nuid']}", seq)
            if not page:  # chunks are put before the metadata, so a replica that has none only lags
                if loop.time() > ends:
                    break
                await asyncio.sleep(_LAG_S)
                continue
            for stored in page[:rest]:
                if not is_for_stream(stored.headers, self._stream):
                    raise StoreCorrupt(f"{self._settings.name} {entry.name}", "a part of it comes from another stream")
                digest.update(stored.data)
                yield stored.data
            seq, rest = page[-1].seq + 1, rest - len(page)
        if _digest(digest.digest()) != entry.about["digest"]:
            raise StoreCorrupt(f"{self._settings.name} {entry.name}", "its content does not match its hash")

    async def _page(self, subject: str, seq: int):
        body = {"seq": seq, "next_by_subj": subject, "batch": _PAGE}
        return await fetched(self._client, self._stream, body, self._limit_s)

    async def _write_about(self, about: Mapping[str, Any], last: int | None) -> int:
        headers = {**_ROLLUP, **stream_headers(self._stream)}
        if last is not None:
            headers["Nats-Expected-Last-Subject-Sequence"] = str(last)
        data = json.dumps(about).encode()
        return await publish(self._client, self._subject(about["name"]), data, headers, self._limit_s)

    async def _purge(self, subject: str, last: int | None = None) -> None:
        """Remove the messages of a subject, up to a sequence number."""
        body = {"filter": subject} if last is None else {"filter": subject, "seq": last + 1}
        await ask(self._client, f"STREAM.PURGE.{self._stream}", body, self._limit_s)

    def _found(self, stored: StreamMessage) -> ObjectEntry | None:
        """Return the metadata in a message; None if the object was removed, or the message was not published by a
        client that may write here."""
        about = cast(dict[str, Any], json.loads(stored.data))
        is_there = is_for_stream(stored.headers, self._stream) and not about.get("deleted")
        if not is_there or self._subject(about["name"]) != stored.subject:
            return None
        return ObjectEntry(about["name"], stored.seq, stored.at, about)

    def _subject(self, name: str) -> str:
        return f"{self._prefix}.M.{base64.urlsafe_b64encode(name.encode()).decode()}"


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _digest(digest: bytes) -> str:
    return "SHA-256=" + base64.urlsafe_b64encode(digest).decode()
