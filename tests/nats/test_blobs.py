"""Blobs in the object store of a NATS server, beyond their contract: other machines, files, forgeries."""

import asyncio
import base64
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest
from nats.aio.client import Client

from covey.adapters.nats.blobs import NatsBlobs
from covey.adapters.nats.client.link import Link
from covey.adapters.nats.leases import Leases
from covey.adapters.nats.log.object_store import CHUNK, ObjectStore
from covey.adapters.system.blobs import BlobFiles
from covey.core.coroutine import finish
from covey.core.formats.nats_names import bulk_bucket
from tests.nats.spaces import link_to
from tests.nats.stored import age


@pytest.fixture
def link(place: str) -> Generator[Link]:
    link = link_to(place)
    yield link
    link.release()


def opened(link: Link, folder: Path) -> NatsBlobs:
    return NatsBlobs(link, Leases(link), BlobFiles(str(folder)))


@pytest.fixture
def blobs(link: Link, tmp_path: Path) -> Generator[NatsBlobs]:
    leases = Leases(link)
    with closing(leases):
        yield NatsBlobs(link, leases, BlobFiles(str(tmp_path)))


async def test_another_machine_gets_a_blob_that_was_put_on_this_one(
    place: str, blobs: NatsBlobs, tmp_path: Path
) -> None:
    digest = await blobs.put(b"from here" * 100_000)
    link = link_to(place)
    other = opened(link, tmp_path / "there")
    assert await other.has(digest)
    assert await other.get(digest) == b"from here" * 100_000
    link.release()
    assert await other.get(digest) == b"from here" * 100_000, "its own copy needs no server"


def test_a_blob_is_put_and_fetched_as_a_file(link: Link, tmp_path: Path) -> None:
    content = bytes(range(256)) * (CHUNK // 256 * 100 + 1)
    (tmp_path / "in").write_bytes(content)

    async def both(client: Client) -> bool:
        bulk = ObjectStore(client, link.settings)
        await bulk.make()
        await bulk.put_file("snapshot/1", str(tmp_path / "in"))
        await bulk.put_file("snapshot/1", str(tmp_path / "in"))
        return await bulk.get_file("snapshot/1", str(tmp_path / "out"))

    assert link.call(both, 30)
    assert (tmp_path / "out").read_bytes() == content


def test_an_object_that_the_server_copied_from_another_stream_is_ignored(link: Link) -> None:
    async def forge(client: Client) -> bytes | None:
        bulk, other = ObjectStore(client, link.settings), ObjectStore(client, link.settings, "other")
        await bulk.make()
        await other.make()
        await other.put("snapshot", b"forged")
        entry = await other.entry("snapshot")
        assert entry is not None
        meta = f"M.{base64.urlsafe_b64encode(b'snapshot').decode()}"
        for subject in (f"C.{entry.about['nuid']}", meta):
            target = f"$O.{bulk_bucket(link.settings.space)}.{subject}"
            await client.publish(f"$JS.API.DIRECT.GET.OBJ_other.$O.other.{subject}", b"", reply=target)
        await bulk.put("after", b"it")
        return await bulk.get("snapshot")

    assert link.call(forge, 30) is None


def test_no_blob_is_removed_while_another_machine_holds(
    place: str, link: Link, blobs: NatsBlobs, tmp_path: Path
) -> None:
    digest = finish(blobs.put(b"held elsewhere"))
    age(link, digest)
    there = link_to(place)
    leases = Leases(there)
    with closing(leases), NatsBlobs(there, leases, BlobFiles(str(tmp_path / "there"))).hold():
        assert not finish(blobs.remove(digest))
    assert finish(blobs.remove(digest))
    there.release()


async def test_many_tasks_can_put_the_same_blobs_at_once(link: Link, blobs: NatsBlobs) -> None:
    def put(n: int) -> str:
        return finish(blobs.put(b"x" * 300_000 if n % 2 else b"y"))

    digests = await asyncio.gather(*(asyncio.to_thread(put, n) for n in range(8)))
    assert len(set(digests)) == 2
    for digest in set(digests):
        assert len(await blobs.get(digest)) in (1, 300_000)
