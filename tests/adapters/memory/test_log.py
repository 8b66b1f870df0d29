"""The contract of a log, in memory: the tests of replicas rely on this log."""

import pytest

from covey.adapters.memory.log import MemoryLog
from covey.testing import OpenLog, OpenLogSnapshots
from covey.testing.contracts import LogContract, LogSnapshotsContract


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def open_log(log: MemoryLog) -> OpenLog:
    return log.another


@pytest.fixture
def open_snapshots(log: MemoryLog) -> OpenLogSnapshots:
    return log.another


class TestLog(LogContract): ...


class TestLogSnapshots(LogSnapshotsContract): ...
