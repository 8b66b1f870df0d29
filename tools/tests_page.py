"""Write the index from modules to their tests into tests/README.md: `python -m tools.tests_page`.

A module's tests are the files that import it. A module that no test imports is tested through those that use it.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "src" / "covey"
TESTS: Final = ROOT / "tests"
PAGE: Final = TESTS / "README.md"
START: Final = "<!-- index:start -->\n"
MOST: Final = 4
"""The number of files that a line names. Those that import the fewest other modules come first."""


def modules() -> Sequence[str]:
    """Return the modules of the package that have code, by their path."""
    paths = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py")
    return [path.relative_to(SOURCE).as_posix() for path in paths]


def imported(path: Path) -> Iterator[str]:
    """Yield the paths of the modules that a file may import."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("covey."):
            yield _path(node.module)
            yield from (_path(f"{node.module}.{alias.name}") for alias in node.names)


def _path(module: str) -> str:
    return module.removeprefix("covey.").replace(".", "/") + ".py"


def tests_of() -> Mapping[str, Sequence[str]]:
    """Return the tests that import each module. Tests that import the fewest modules come first."""
    known = set(modules())
    found: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for path in TESTS.rglob("test_*.py"):
        about = {name for name in imported(path) if name in known}
        for name in about:
            found[name].append((len(about), path.relative_to(TESTS).as_posix()))
    return {name: [test for _, test in sorted(found[name])] for name in known}


def index() -> str:
    """Return the index: a line for each module."""
    tests = tests_of()
    return "".join(f"| `{name}` | {_cell(tests[name])} |\n" for name in modules())


def _cell(tests: Sequence[str]) -> str:
    more = f" and {len(tests) - MOST} more" if len(tests) > MOST else ""
    return ", ".join(f"`{test}`" for test in tests[:MOST]) + more if tests else "through its users"


def written(page: str) -> str:
    """Return the page with the current index."""
    return f"{page.partition(START)[0]}{START}\n| module | tests |\n|---|---|\n{index()}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
