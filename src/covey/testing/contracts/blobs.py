"""Contracts of blobs and their upkeep."""

import asyncio
from collections.abc import Callable
from hashlib import sha256
from typing import Protocol

import pytest

from covey.core.errors import BlobMissing
from covey.ports.blobs import Blobs, BlobUpkeep

CONTENTS = [b"", b"a", bytes(range(256)) * 17, b"x" * 2_000_000]
NOT_DIGESTS = ["", "x", "../" * 3, "/etc/passwd", "0" * 63, "0" * 65, "\u0000", "é" * 64]


def digest_of(content: bytes) -> str:
    """Return the digest that the content must get."""
    return sha256(content).hexdigest()


class BlobsContract:
    """Fixtures: `blobs`, and `spoil_blob`, which changes the stored bytes behind a digest."""

    @pytest.mark.parametrize("content", CONTENTS, ids=len)
    async def test_content_comes_back_by_its_digest(self, blobs: Blobs, content: bytes) -> None:
        digest = await blobs.put(content)
        assert digest == digest_of(content)
        assert await blobs.get(digest) == content
        assert await blobs.has(digest)

    async def test_the_same_content_again_changes_nothing(self, blobs: Blobs) -> None:
        assert await blobs.put(b"same") == await blobs.put(b"same")
        assert await blobs.get(digest_of(b"same")) == b"same"

    async def test_contents_can_be_put_at_once(self, blobs: Blobs) -> None:
        contents = [b"one", b"two", b"three"] * 10
        digests = await asyncio.gather(*map(blobs.put, contents))
        assert [await blobs.get(digest) for digest in digests] == contents

    async def test_content_that_nobody_put_is_missing(self, blobs: Blobs) -> None:
        with pytest.raises(BlobMissing):
            await blobs.get(digest_of(b"never"))
        assert not await blobs.has(digest_of(b"never"))

    @pytest.mark.parametrize("text", NOT_DIGESTS)
    async def test_what_is_no_digest_is_missing(self, blobs: Blobs, text: str) -> None:
        with pytest.raises(BlobMissing):
            await blobs.get(text)
        assert not await blobs.has(text)

    async def test_spoilt_content_counts_as_missing(self, blobs: Blobs, spoil_blob: Callable[[str], None]) -> None:
        digest = await blobs.put(b"as it was")
        spoil_blob(digest)
        with pytest.raises(BlobMissing):
            await blobs.get(digest)

    async def test_putting_spoilt_content_again_repairs_it(
        self, blobs: Blobs, spoil_blob: Callable[[str], None]
    ) -> None:
        digest = await blobs.put(b"as it was")
        spoil_blob(digest)
        await blobs.put(b"as it was")
        assert await blobs.get(digest) == b"as it was"


class CleanedBlobs(Blobs, BlobUpkeep, Protocol):
    """An adapter that implements both ports."""


class BlobUpkeepContract:
    """Fixtures: `blobs`, which implements both ports, and `age_blob`, which makes the last use of a digest a day
    old."""

    async def test_all_that_is_kept_is_listed(self, blobs: CleanedBlobs) -> None:
        assert [*await blobs.digests()] == []
        kept = [await blobs.put(content) for content in (b"a", b"b", b"a")]
        assert [*await blobs.digests()] == sorted(set(kept))

    async def test_what_nobody_used_lately_is_removed(
        self, blobs: CleanedBlobs, age_blob: Callable[[str], None]
    ) -> None:
        digest = await blobs.put(b"old")
        other = await blobs.put(b"other")
        age_blob(digest)
        assert await blobs.remove(digest)
        assert not await blobs.has(digest)
        with pytest.raises(BlobMissing):
            await blobs.get(digest)
        assert [*await blobs.digests()] == [other]

    async def test_what_was_just_put_stays(self, blobs: CleanedBlobs) -> None:
        digest = await blobs.put(b"new")
        assert not await blobs.remove(digest)
        assert await blobs.get(digest) == b"new"

    async def test_what_was_put_again_stays(self, blobs: CleanedBlobs, age_blob: Callable[[str], None]) -> None:
        digest = await blobs.put(b"again")
        age_blob(digest)
        await blobs.put(b"again")
        assert not await blobs.remove(digest)

    async def test_what_was_asked_for_stays(self, blobs: CleanedBlobs, age_blob: Callable[[str], None]) -> None:
        digest = await blobs.put(b"asked for")
        age_blob(digest)
        assert await blobs.has(digest)
        assert not await blobs.remove(digest)

    async def test_nothing_is_removed_while_somebody_holds(
        self, blobs: CleanedBlobs, age_blob: Callable[[str], None]
    ) -> None:
        digest = await blobs.put(b"held")
        age_blob(digest)
        with blobs.hold():
            assert not await blobs.remove(digest)
        assert await blobs.remove(digest)

    @pytest.mark.parametrize("digest", ["0" * 64, "../" * 3, "x", ""])
    async def test_what_is_not_there_is_gone(self, blobs: CleanedBlobs, digest: str) -> None:
        assert await blobs.remove(digest)
