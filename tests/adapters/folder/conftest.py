import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.core.formats.layout import Layout
from tests.adapters.folder.desk import Desk


@pytest.fixture(params=list(Layout))
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[Desk]:
    """A folder for each layout."""
    one = Desk(tmp_path / "shared", request.param)
    yield one
    one.close()


@pytest.fixture
def dialogue(tmp_path: Path) -> Generator[Desk]:
    one = Desk(tmp_path / "shared", Layout.DIALOGUE)
    yield one
    one.close()


@pytest.fixture
def mailbox(tmp_path: Path) -> Generator[Desk]:
    one = Desk(tmp_path / "shared", Layout.MAILBOX)
    yield one
    one.close()


@pytest.fixture
def quick() -> Generator[Path]:
    """A folder in memory, if the system has one. Killed processes, unlike power cuts, lose nothing that they wrote."""
    memory = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="cv", dir=memory if os.access(memory, os.W_OK) else None)
    yield Path(folder)
    shutil.rmtree(folder)
