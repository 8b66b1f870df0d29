"""The launcher that the contracts and the tests here are run with."""

import pytest

from covey.adapters.process.launcher import ProcessLauncher
from covey.testing import OpenLauncher, closing


@pytest.fixture
def open_launcher() -> OpenLauncher:
    return lambda: closing(ProcessLauncher())
