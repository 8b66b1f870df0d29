"""The launcher for the contracts and the tests in this folder."""

import pytest

from covey.adapters.process.launcher import ProcessLauncher
from covey.testing import OpenLauncher, closing


@pytest.fixture
def open_launcher() -> OpenLauncher:
    return lambda: closing(ProcessLauncher())
