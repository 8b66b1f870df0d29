"""The picture of the demo: drawn from the output in a terminal, and up to date."""

from pathlib import Path
from xml.etree import ElementTree

from covey.surfaces.cli.demo.script import ACTS, HANDOVER
from tools.demo_picture import PICTURE, PROMPT, SHOWN, excerpt, picture, runs

README = Path(__file__).parents[2] / "README.md"
NAMESPACE = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return ["".join(found.itertext()) for found in ElementTree.fromstring(svg).iter(f"{NAMESPACE}text")]


def test_letters_keep_their_columns_and_their_colours() -> None:
    assert list(runs("  \x1b[1;34mcoder\x1b[0m \x1b[2m→ a & b\x1b[0m")) == [
        (0, "  ", ""),
        (2, "coder", "bold blue"),
        (7, " ", ""),
        (8, "→ a & b", "dim"),
    ]
    svg = picture(["  \x1b[32mhandled\x1b[0m <&>"])
    assert texts(svg) == ["handled", "<&>"]
    assert 'class="green"' in svg


def test_the_picture_shows_only_the_opening_and_the_chosen_parts() -> None:
    lines = [
        "Hello.",
        "",
        "place",
        "",
        "── 1. One ──",
        "a",
        "",
        "── 3. Three ──",
        "b",
        "── What the ledger says ──",
        "c",
    ]
    assert [line for line in excerpt(lines) if line and "…" not in line] == [PROMPT, "Hello.", "place", *lines[7:]]


def test_the_picture_in_the_readme_is_up_to_date() -> None:
    assert f"({PICTURE.relative_to(README.parent)})" in README.read_text(encoding="utf-8")
    shown = texts(PICTURE.read_text(encoding="utf-8"))
    assert f"3. {ACTS[2].title}" in shown, "run `python tools/demo_picture.py`"
    assert f"4. {HANDOVER}" in shown
    assert SHOWN[-1] in shown
    assert any(text.startswith("kill -9") for text in shown)
