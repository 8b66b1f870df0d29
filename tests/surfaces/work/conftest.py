"""Fixtures: a space with an agent whose tasks are done by programs of the tests."""

from pathlib import Path

import pytest

from tests.surfaces.conftest import Covey
from tests.surfaces.work.desk import Desk


@pytest.fixture
def desk(covey: Covey, tmp_path: Path) -> Desk:
    return Desk(covey, tmp_path)
