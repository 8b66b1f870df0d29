"""The contracts of clock, ids, liveness, wake-ups and blobs on the adapters of one machine."""

import functools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from covey.adapters.system.blobs import BlobFiles
from covey.adapters.system.clock import SystemClock
from covey.adapters.system.ids import SystemIds
from covey.adapters.system.threaded_files import ThreadedBlobs
from covey.ports.blobs import Blobs
from covey.testing.contracts import (
    BlobsContract,
    BlobUpkeepContract,
    ClockContract,
    IdsContract,
    LivenessContract,
    SharedLivenessContract,
    SharedWakeupsContract,
    WakeupsContract,
)
from covey.testing.factories import Locator, OpenLiveness, OpenWakeups
from tests.contracts.elsewhere import LivenessElsewhere
from tests.contracts.one_machine import open_doorbell, open_system_liveness


@pytest.fixture
def clock() -> SystemClock:
    return SystemClock()


@pytest.fixture
def ids() -> SystemIds:
    return SystemIds()


@pytest.fixture(params=[BlobFiles, ThreadedBlobs])
def blobs(tmp_path: Path, request: pytest.FixtureRequest) -> Blobs:
    return request.param(str(tmp_path))


@pytest.fixture
def spoil_blob(tmp_path: Path) -> Callable[[str], None]:
    def spoil(digest: str) -> None:
        (tmp_path / "blobs" / digest[:2] / digest[2:]).write_bytes(b"spoilt")

    return spoil


@pytest.fixture
def short() -> Generator[str]:
    """Return a private folder whose path is short enough for sockets."""
    folder = tempfile.mkdtemp(prefix="cv", dir="/tmp")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def open_wakeups(short: str) -> OpenWakeups:
    return functools.partial(open_doorbell, short)


@pytest.fixture
def wakeups_locator(short: str) -> Locator:
    return Locator("tests.contracts.one_machine:open_doorbell", short)


@pytest.fixture
def open_liveness(tmp_path: Path) -> OpenLiveness:
    return lambda: LivenessElsewhere(open_system_liveness, str(tmp_path))


@pytest.fixture
def liveness_locator(tmp_path: Path) -> Locator:
    return Locator("tests.contracts.one_machine:open_system_liveness", str(tmp_path))


class TestClock(ClockContract): ...


class TestIds(IdsContract): ...


class TestBlobs(BlobsContract): ...


class TestBlobUpkeep(BlobUpkeepContract):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> BlobFiles:
        return BlobFiles(str(tmp_path))

    @pytest.fixture
    def age_blob(self, tmp_path: Path) -> Callable[[str], None]:
        def age(digest: str) -> None:
            yesterday = time.time() - 86_400
            os.utime(tmp_path / "blobs" / digest[:2] / digest[2:], (yesterday, yesterday))

        return age


class TestLiveness(LivenessContract): ...


class TestSharedLiveness(SharedLivenessContract): ...


class TestWakeups(WakeupsContract): ...


class TestSharedWakeups(SharedWakeupsContract): ...
