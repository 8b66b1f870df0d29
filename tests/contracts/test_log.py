"""The contract of a log: in memory, and as a stream on one NATS node and on three."""

import os
import uuid
from collections.abc import Callable, Generator

import pytest

from covey.adapters.memory.log import MemoryLog
from covey.adapters.nats.link import Link
from covey.adapters.nats.log import NatsLog
from covey.adapters.nats.settings import NatsSettings, parse_nats
from covey.adapters.nats.snapshots import NatsSnapshots
from covey.core.store_url import parse_store_url
from covey.testing import OpenLog, OpenLogSnapshots
from covey.testing.contracts import LogContract, LogSnapshotsContract
from tests.nats.servers import one_node, three_nodes


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with one_node(tmp_path_factory.mktemp("one")) as server:
        yield server.url


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with three_nodes(tmp_path_factory.mktemp("three")) as cluster:
        yield cluster.url


class TestMemoryLog(LogContract):
    @pytest.fixture
    def open_log(self) -> OpenLog:
        return MemoryLog().another


class TestMemorySnapshots(LogSnapshotsContract):
    @pytest.fixture
    def log(self) -> MemoryLog:
        return MemoryLog()

    @pytest.fixture
    def open_log(self, log: MemoryLog) -> OpenLog:
        return log.another

    @pytest.fixture
    def open_snapshots(self, log: MemoryLog) -> OpenLogSnapshots:
        return log.another


@pytest.fixture(params=["one", "three"])
def settings(request: pytest.FixtureRequest) -> NatsSettings:
    url = f"{request.getfixturevalue(str(request.param))}/{uuid.uuid4().hex}"
    return parse_nats(parse_store_url(url), os.environ)


@pytest.fixture
def warn() -> Callable[[str], None]:
    """Hear of a server that takes its time, which it may."""
    heard: list[str] = []
    return heard.append


class TestNatsLog(LogContract):
    @pytest.fixture
    def open_log(self, settings: NatsSettings, warn: Callable[[str], None]) -> OpenLog:
        return lambda: NatsLog(Link(settings), warn)


class TestNatsSnapshots(LogSnapshotsContract):
    @pytest.fixture
    def link(self, settings: NatsSettings) -> Generator[Link]:
        link = Link(settings).share()
        yield link
        link.release()

    @pytest.fixture
    def open_log(self, link: Link, warn: Callable[[str], None]) -> OpenLog:
        return lambda: NatsLog(link, warn)

    @pytest.fixture
    def open_snapshots(self, link: Link) -> OpenLogSnapshots:
        return lambda: NatsSnapshots(link)
