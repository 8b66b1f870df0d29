"""Permissions of files and folders: ours are for their owner alone, and a forbidden file or folder blocks no other.

Root may do everything. So each of these stories runs as another user, in a separate process.
"""

import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.core.formats.layout import Layout
from tests.adapters.children import child
from tests.adapters.folder.desk import Desk

NOBODY = 65534

BEGIN = f"""
import hashlib, json, os, sys
from pathlib import Path
import covey.adapters.folder.visit  # and all that it needs, which somebody else may not be able to read
from covey.core.coroutine import finish
from covey.core.errors import StoreReadOnly
from covey.core.formats.layout import Layout
from covey.ports.folder import DepartedFile
from tests.adapters.folder.desk import Desk, content
if os.geteuid() == 0:
    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
desk = Desk(Path(sys.argv[1]), Layout(sys.argv[2]))
def setbacks():
    return [setback.path for setback in finish(desk.folder.setbacks())]
"""

UNWRITABLE_FOLDER = """
desk.bring(desk.sheet(1), desk.sheet(2, owner="anna"))
desk.settle()
folder = desk.path(desk.spot(1)).parent
folder.chmod(0o500)
desk.bring(desk.sheet(3), desk.sheet(4, owner="anna"))
assert len(desk.files()) == 3
assert desk.look().left == []
assert setbacks() == [str(folder.relative_to(desk.root))]
folder.chmod(0o700)
assert desk.folder.has_news()
assert desk.look().left == [DepartedFile(desk.known(3), None)]
desk.bring(desk.sheet(3))
assert len(desk.files()) == 4
"""

UNREADABLE_FILE = """
path = desk.put(desk.spot(1), content(1))
desk.put(desk.spot(2), content(2))
path.chmod(0)
assert [arrived.spot for arrived in desk.take_in().arrived] == [desk.spot(2)]
assert setbacks() == [str(path.relative_to(desk.root))]
desk.settle()
assert not desk.folder.has_news()
path.chmod(0o600)
assert desk.folder.has_news()
assert [arrived.spot for arrived in desk.take_in().arrived] == [desk.spot(1)]
assert setbacks() == []
"""

UNREADABLE_FOLDER = """
folder = desk.put(desk.spot(1), content(1)).parent
desk.put(desk.spot(2, owner="anna"), content(2))
folder.chmod(0)
assert [arrived.spot for arrived in desk.take_in().arrived] == [desk.spot(2, owner="anna")]
assert setbacks() == [str(folder.relative_to(desk.root))]
desk.settle()
assert not desk.folder.has_news()
folder.chmod(0o700)
assert desk.folder.has_news()
assert [arrived.spot for arrived in desk.take_in().arrived] == [desk.spot(1)]
"""

READ_ONLY = """
desk.bring(desk.sheet(1))
desk.close()
for path in ((desk.root / ".covey").iterdir()):
    path.chmod(0o400)
(desk.root / ".covey").chmod(0o500)
desk.root.chmod(0o500)
desk = Desk(desk.root, desk.layout)
assert desk.folder.has_news()
try:
    desk.look()
except StoreReadOnly as error:
    assert str(desk.root) in error.message
else:
    raise AssertionError("nothing was said")
"""

STORIES = {
    "unwritable-folder": UNWRITABLE_FOLDER,
    "unreadable-file": UNREADABLE_FILE,
    "unreadable-folder": UNREADABLE_FOLDER,
    "read-only": READ_ONLY,
}


@pytest.fixture
def open_folder() -> Generator[Path]:
    """A folder that all users can reach and use."""
    made = tempfile.mkdtemp(prefix="cv", dir="/tmp")
    Path(made).chmod(0o777)
    yield Path(made)
    shutil.rmtree(made)


@pytest.fixture
def lax_umask() -> Generator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("story", STORIES)
def test_a_forbidden_file_or_folder_blocks_no_other(open_folder: Path, layout: Layout, story: str) -> None:
    with child(f"{BEGIN}\n{STORIES[story]}\nprint('done')", str(open_folder / "shared"), layout) as visitor:
        assert visitor.line() == "done"


def test_files_and_folders_that_we_make_are_for_their_owner_alone(tmp_path: Path, lax_umask: None) -> None:
    desk = Desk(tmp_path / "shared", Layout.DIALOGUE)
    desk.bring(desk.sheet(1))
    desk.during(lambda visit: visit.append([(1, "{}")], 1))
    for path in desk.root.rglob("*"):
        if path != desk.root / ".covey":  # made by the test itself
            assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    desk.close()
