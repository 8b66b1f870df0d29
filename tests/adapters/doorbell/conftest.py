import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest


@pytest.fixture
def short() -> Generator[Path]:
    """A private folder whose path is short enough for sockets. The folders of pytest may be too deep."""
    folder = tempfile.mkdtemp(prefix="cv", dir="/tmp")
    yield Path(folder)
    shutil.rmtree(folder)
