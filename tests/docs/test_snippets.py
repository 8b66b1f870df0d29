"""The documentation is true: every Python snippet of every page runs, in order, on the real store."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.docs.snippets import run_page, snippets

ROOT = Path(__file__).parents[2]
PAGES = [page for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))) if any(snippets(page))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A working directory far from any space, whose modules can be imported while a page runs."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("COVEY_STORE", raising=False)
    working = tmp_path / "work"
    working.mkdir()
    monkeypatch.chdir(working)
    monkeypatch.setattr(sys, "path", [str(working), *sys.path])
    known = set(sys.modules)
    yield working
    for name in set(sys.modules) - known:
        if Path(getattr(sys.modules[name], "__file__", None) or "").parent == working:
            del sys.modules[name]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_snippets_of_a_page_run_and_print_what_the_page_shows(page: Path, folder: Path) -> None:
    assert run_page(page, folder) > 0


def test_the_pages_that_teach_by_snippets_are_among_them() -> None:
    assert {ROOT / "README.md", ROOT / "docs/quickstart.md", ROOT / "docs/how-to/write-an-adapter.md"} <= set(PAGES)
