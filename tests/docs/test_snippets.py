"""The Python snippets of the documentation: every snippet of every page runs, in order, on the real store."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.docs.snippets import Use, run_page, snippets

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))
    if any(snippet.use is Use.RUN for snippet in snippets(page))
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A working directory outside any space, whose modules can be imported while a page runs."""
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
def test_the_snippets_of_a_page_run_with_the_documented_output(page: Path, folder: Path) -> None:
    assert run_page(page, folder) > 0


def test_the_tutorial_pages_are_among_the_tested_ones() -> None:
    tutorials = ("README.md", "docs/how-to/use-from-python.md", "docs/how-to/write-an-adapter.md")
    assert {ROOT / page for page in tutorials} <= set(PAGES)
