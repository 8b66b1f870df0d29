"""Contract of blobs that can be cleaned out."""

from collections.abc import Callable
from typing import Protocol

import pytest

from covey.core.errors import BlobMissing
from covey.ports.blobs import Blobs, BlobUpkeep


class CleanedBlobs(Blobs, BlobUpkeep, Protocol):
    """Both roles in one."""


class BlobUpkeepContract:
    """Fixtures: `blobs`, which is both, and `age_blob`, which makes the last use of a digest a day old."""

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
