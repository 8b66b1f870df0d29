"""The screens of the main verbs: golden files at each width, and pictures of the docs that show the same."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from covey.surfaces.cli.terminal.text import cells
from tools.screens import GOLDEN, IMAGES, SHOTS, WIDTHS, files

pytestmark = pytest.mark.requirement("first.screens")

OPERATE = IMAGES.parent / "how-to" / "operate.md"
SETTINGS = ("NO_COLOR", "COLUMNS", "TERM", "TZ", "COVEY_AGENT", "COVEY_STORE")


@pytest.fixture(scope="module")
def made() -> dict[Path, str]:
    return files()


def test_every_screen_is_the_golden_one(made: dict[Path, str]) -> None:
    for path, content in made.items():
        assert path.read_text(encoding="utf-8") == content, f"{path.name} differs: look at it, then run `make screens`"
    kept = {*GOLDEN.iterdir()}
    assert kept == {path for path in made if path.parent == GOLDEN}, "a file without a screen"


@pytest.mark.parametrize("width", WIDTHS)
def test_every_line_fits_its_width(made: dict[Path, str], width: int) -> None:
    for shot in SHOTS:
        lines = made[GOLDEN / f"{shot.name}-{width}.txt"].splitlines()
        assert lines
        assert max(map(cells, lines)) <= width, shot.name


def test_the_screens_do_not_depend_on_the_settings_of_the_user(
    made: dict[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SETTINGS:
        monkeypatch.setenv(name, "odd")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert files() == made


def test_the_docs_show_every_picture(made: dict[Path, str]) -> None:
    page = OPERATE.read_text(encoding="utf-8")
    for path in (path for path in made if path.parent == IMAGES):
        assert f"](../images/{path.name})" in page
        assert ElementTree.fromstring(made[path]).tag.endswith("svg")
