"""The CLI reference: it agrees with the parsers."""

from covey.surfaces.cli import exits
from covey.surfaces.cli.catalogue import VERBS
from tools.cli_page import EXITS, PAGE, page


def test_the_page_agrees_with_the_parsers() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python tools/cli_page.py`"


def test_every_verb_has_its_section_once() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for verb in VERBS:
        assert lines.count(f"### covey {verb}") == 1, verb


def test_every_exit_code_is_explained() -> None:
    assert set(EXITS) == {value for value in vars(exits).values() if isinstance(value, int)}
