"""The contracts of the server side of a space on NATS, one node or three: its log, contents and liveness."""

from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from covey.adapters.nats.blobs import NatsBlobs
from covey.adapters.nats.client.link import Link
from covey.adapters.nats.leases import Leases
from covey.adapters.nats.log.log import NatsLog
from covey.adapters.nats.log.snapshots import NatsSnapshots
from covey.adapters.system.blobs import BlobFiles
from covey.testing import Locator, OpenLiveness, OpenLog, OpenLogSnapshots
from covey.testing.contracts import (
    BlobsContract,
    BlobUpkeepContract,
    LivenessContract,
    LogContract,
    LogSnapshotsContract,
    SharedLivenessContract,
)
from tests.contracts.elsewhere import LivenessElsewhere
from tests.nats import spaces
from tests.nats.ahead import SpacesAhead, new_space, spaces_ahead
from tests.nats.servers import one_node, three_nodes
from tests.nats.stored import age, spoil

NODES = {"one": one_node, "three": three_nodes}


@pytest.fixture(scope="module", params=NODES)
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with NODES[request.param](tmp_path_factory.mktemp(request.param)) as server:
        yield server.url.removeprefix("nats://")


@pytest.fixture(scope="module")
def ahead(servers: str) -> Generator[SpacesAhead]:
    with spaces_ahead(servers) as found:
        yield found


@pytest.fixture
def place(servers: str, ahead: SpacesAhead) -> Generator[str]:
    space = new_space()
    yield f"{servers}/{space}"
    ahead.drop(space)


@pytest.fixture
def link(place: str) -> Generator[Link]:
    link = spaces.link_to(place)
    yield link
    link.release()


@pytest.fixture
def warn() -> Callable[[str], None]:
    """Collect warnings about a slow server, which are allowed."""
    heard: list[str] = []
    return heard.append


class TestLog(LogContract):
    @pytest.fixture
    def open_log(self, place: str, warn: Callable[[str], None]) -> OpenLog:
        return lambda: NatsLog(Link(spaces.settings_of(place)), warn)


class TestLogSnapshots(LogSnapshotsContract):
    @pytest.fixture
    def open_log(self, link: Link, warn: Callable[[str], None]) -> OpenLog:
        return lambda: NatsLog(link, warn)

    @pytest.fixture
    def open_snapshots(self, link: Link) -> OpenLogSnapshots:
        return lambda: NatsSnapshots(link)


@pytest.fixture
def blobs(link: Link, tmp_path: Path) -> Generator[NatsBlobs]:
    with closing(Leases(link)) as leases:
        yield NatsBlobs(link, leases, BlobFiles(str(tmp_path)))


@pytest.fixture
def spoil_blob(link: Link, tmp_path: Path) -> Callable[[str], None]:
    return partial(spoil, link, tmp_path)


@pytest.fixture
def age_blob(link: Link) -> Callable[[str], None]:
    return partial(age, link)


class TestBlobs(BlobsContract): ...


class TestBlobUpkeep(BlobUpkeepContract): ...


@pytest.fixture
def open_liveness(place: str, tmp_path: Path) -> OpenLiveness:
    return lambda: LivenessElsewhere(spaces.open_liveness, f"{place} {tmp_path}")


@pytest.fixture
def liveness_locator(place: str, tmp_path: Path) -> Locator:
    return Locator(f"{spaces.__name__}:open_liveness", f"{place} {tmp_path}")


class TestLiveness(LivenessContract): ...


class TestSharedLiveness(SharedLivenessContract): ...
