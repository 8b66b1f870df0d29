"""The architecture page: it shows the existing packages, and a tour that can be read in twenty minutes."""

import ast
import re
from pathlib import Path

from tools.packages_page import PAGE, SOURCE, imports, reduced, written

MOST_LINES = 2_500
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_packages_are_those_of_the_code() -> None:
    assert written(TEXT) == TEXT, "run `python -m tools.packages_page`"


def test_every_package_says_what_is_inside() -> None:
    for path in SOURCE.rglob("__init__.py"):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert len(docstring.split()) >= 3, path


def test_the_diagram_leaves_out_only_imports_that_follow_from_others() -> None:
    edges = imports()
    assert reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}
    assert all(others <= edges[name] for name, others in reduced(edges).items())


def test_the_tour_of_twenty_minutes_is_short() -> None:
    tour = TEXT.split("## Twenty minutes, in this order")[1]
    paths = [SOURCE / name for name in re.findall(r"`([a-z_/]+\.py)`", tour)]
    assert len(paths) > 10
    assert sum(_lines(path) for path in paths) <= MOST_LINES


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
