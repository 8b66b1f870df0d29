"""Changes to a stored blob without the adapter: it is damaged, or made to look old."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from nats.aio.client import Client

from covey.adapters.nats.client.link import Link
from covey.adapters.nats.client.requests import ask, publish
from covey.adapters.nats.log.object_store import ObjectEntry, ObjectStore
from covey.adapters.nats.log.streams import stream_headers
from covey.core.formats.nats_names import bulk_bucket, bulk_stream


def spoil(link: Link, folder: Path, digest: str) -> None:
    """Change the bytes on the server, and remove the local ones."""

    async def change(client: Client) -> None:
        space = link.settings.space
        entry = await ObjectStore(client, link.settings).entry(f"blob/{digest}")
        assert entry is not None
        subject = f"$O.{bulk_bucket(space)}.C.{entry.about['nuid']}"
        await ask(client, f"STREAM.PURGE.{bulk_stream(space)}", {"filter": subject}, 5)
        await publish(client, subject, b"spoilt", stream_headers(bulk_stream(space)), 5)

    link.call(change, 10)
    (folder / "blobs" / digest[:2] / digest[2:]).unlink()


def age(link: Link, digest: str) -> None:
    """Make a blob look as if it was stored yesterday."""

    async def change(client: Client) -> None:
        entry = await ObjectStore(client, link.settings).entry(f"blob/{digest}")
        assert entry is not None
        yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
        await _AgedBulk(client, link.settings).write(entry, yesterday)

    link.call(change, 10)


class _AgedBulk(ObjectStore):
    async def write(self, entry: ObjectEntry, at: str) -> None:
        await self._write_about({**entry.about, "mtime": at}, None)
