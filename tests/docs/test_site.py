"""The documentation site: it builds without a warning, every link on it leads to a page and a place on that page, and
the API reference has every public name."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import covey

ROOT = Path(__file__).parents[2]
LIMIT_S = 55

pytestmark = pytest.mark.requirement("first.site")


class PageReader(HTMLParser):
    """Collects the links of a page, and the ids that links can name."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        self.links += [values[name] for name in ("href", "src") if name in values]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert (built.returncode, built.stderr) == (0, "")
    return folder


def broken_links(site: Path) -> Iterator[tuple[str, str]]:
    pages = {page: PageReader(page) for page in site.rglob("*.html") if page.name != "404.html"}
    for page, found in pages.items():
        for link in found.links:
            path, anchor = urldefrag(unquote(link))
            if re.match(r"\w+:", path):
                continue
            target = page if not path else (page.parent / path).resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (anchor and target in pages and anchor not in pages[target].ids):
                yield str(page.relative_to(site)), link


def test_every_link_on_the_site_leads_somewhere(site: Path) -> None:
    assert [*broken_links(site)] == []


def test_every_public_name_is_in_the_api_reference(site: Path) -> None:
    ids = PageReader(site / "reference" / "api.html").ids
    assert {name for name in covey.__all__ if name != "__version__"} - {
        name.removeprefix("covey.") for name in ids
    } == set()


def test_the_options_of_a_call_are_in_the_api_reference(site: Path) -> None:
    page = (site / "reference" / "api.html").read_text(encoding="utf-8")
    assert "when_unknown" in page
    assert "Unpack" not in page


def test_only_commands_of_a_terminal_can_be_copied(site: Path) -> None:
    page = (site / "quickstart.html").read_text(encoding="utf-8")
    assert set(re.findall(r'<span class="gp">(.*?)</span>', page)) == {"$ "}
    rules = (site / "site.css").read_text(encoding="utf-8")
    assert re.search(r"\[data-md-copying\] \.gp,\s+\[data-md-copying\] \.go \{\s+display: none;", rules)


def test_pages_load_nothing_from_other_hosts(site: Path) -> None:
    loaded = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"')
    assert {link for page in site.rglob("*.html") for link in loaded.findall(page.read_text(encoding="utf-8"))} == set()
