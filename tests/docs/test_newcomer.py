"""The scripted newcomer: every block of the first pages runs in an empty folder, with the documented output."""

import re
from pathlib import Path

import pytest

from tests.docs.newcomer import Newcomer
from tests.docs.snippets import Use, blocks

ROOT = Path(__file__).parents[2]
FIRST = [ROOT / "README.md", ROOT / "docs" / "quickstart.md"]
PAGES = [*FIRST, *sorted(ROOT.glob("docs/start/*.md"))]

pytestmark = pytest.mark.requirement("first.newcomer")


def written(tmp_path: Path, *lines: str) -> Path:
    page = tmp_path / "page.md"
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return page


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    root = tmp_path / "newcomer"
    root.mkdir()
    return Newcomer(root)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_runs_with_the_documented_output_and_writes_nothing_outside_the_folder(
    page: Path, newcomer: Newcomer
) -> None:
    before = newcomer.listing()
    assert newcomer.run(page) > 0
    assert newcomer.listing() == before


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_only_installation_and_make_are_left_out(page: Path) -> None:
    left_out = [line for block in blocks(page) if block.use is Use.NO_RUN for line in block.code.splitlines()]
    assert [line for line in left_out if "pip " not in line and not line.startswith("$ make ")] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_start_pages_fit_one_screen() -> None:
    assert [page for page in PAGES if page.parent.name == "start" and len(page.read_text().splitlines()) > 75] == []


def test_the_glossary_has_at_most_20_words_in_order() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([a-z ]+) \| .+ \|$", text, re.MULTILINE)[1:]
    assert len(words) <= 20
    assert words == sorted(words)


def test_an_output_that_differs_from_the_page_fails(tmp_path: Path, newcomer: Newcomer) -> None:
    for shown in ("two", "one\ntwo", ""):
        with pytest.raises(AssertionError, match="the page shows"):
            newcomer.run(written(tmp_path, "```console", "$ echo one", *shown.splitlines(), "```"))


def test_a_command_that_fails_is_not_overlooked(tmp_path: Path, newcomer: Newcomer) -> None:
    newcomer.run(written(tmp_path, "```console", "$ false  # exit 1", "```"))
    with pytest.raises(AssertionError, match="ended with 1"):
        newcomer.run(written(tmp_path, "```console", "$ false", "```"))


def test_a_block_of_an_unknown_kind_fails(tmp_path: Path, newcomer: Newcomer) -> None:
    with pytest.raises(AssertionError, match="can't be run"):
        newcomer.run(written(tmp_path, "```toml", "[a]", "```"))


def test_a_file_outside_the_folder_is_noticed(tmp_path: Path, newcomer: Newcomer) -> None:
    before = newcomer.listing()
    newcomer.run(written(tmp_path, "```console", "$ cd; echo one > file", "```"))
    assert newcomer.listing() != before


def test_ids_times_ages_and_the_folder_may_differ(tmp_path: Path, newcomer: Newcomer) -> None:
    shown = "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b  3s  10:00:00  … is ready"
    printed = "1794738090872-c745006e-89e8-4bc5-807f-9da2869a073b 12m 23:59:59 $(pwd) is ready"
    newcomer.run(written(tmp_path, "```console", f'$ echo "{printed}"', shown, "```"))
