"""The contracts of wake-ups over a shared folder."""

from functools import partial
from pathlib import Path

import pytest

from covey.testing import Locator, OpenWakeups
from covey.testing.contracts import SharedWakeupsContract, WakeupsContract
from tests.contracts import files_wakeups


@pytest.fixture(params=files_wakeups.WAYS)
def layout(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def open_wakeups(layout: str, tmp_path: Path) -> OpenWakeups:
    return partial(files_wakeups.WAYS[layout], str(tmp_path))


@pytest.fixture
def wakeups_locator(layout: str, tmp_path: Path) -> Locator:
    return Locator(f"{files_wakeups.__name__}:open_{layout}", str(tmp_path))


class TestWakeups(WakeupsContract): ...


class TestSharedWakeups(SharedWakeupsContract): ...
