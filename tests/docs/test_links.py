"""Links between the pages: each target exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted(ROOT.glob("docs/**/*.md")), *ROOT.glob("examples/*.md")]
LINK = re.compile(r"\[[^\]]+\]\((?!https?://)(?P<target>[^)#]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_target_of_a_page_exists(page: Path) -> None:
    targets = [match["target"] for match in LINK.finditer(page.read_text(encoding="utf-8"))]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_page_but_the_single_decisions_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / match["target"]).resolve() for match in LINK.finditer(index.read_text(encoding="utf-8"))}
    pages = {page for page in ROOT.glob("docs/**/*.md") if page != index and page.parent.name != "decisions"}
    assert sorted(pages - linked) == []
