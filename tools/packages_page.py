"""Write the picture and the table of packages into the architecture page: `python -m tools.packages_page`.

The picture is made from the imports and the table from the docstrings, so that both follow the code.
"""

import ast
from collections.abc import Iterator, Mapping, Set
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "src" / "covey"
PAGE: Final = ROOT / "docs" / "explanation" / "architecture.md"
START: Final = "<!-- packages:start -->\n"
END: Final = "<!-- packages:end -->\n"
DEEPEST: Final = 2
"""The table shows packages down to this depth below covey."""

SHOWN: Final = frozenset(
    {"core", "ports", "disk", "services", "adapters", "engines", "toolkits", "runtime", "surfaces"}
)
"""The top-level packages in the picture. Single modules and packages for tests are left out."""


def imports() -> Mapping[str, Set[str]]:
    """Return the imports among the top-level packages, at module level and in functions."""
    found: dict[str, set[str]] = {name: set() for name in SHOWN}
    for path in SOURCE.rglob("*.py"):
        package = path.relative_to(SOURCE).parts[0]
        if package in SHOWN:
            found[package] |= {name for name in _imported(path) if name in SHOWN} - {package}
    return found


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("covey."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("covey."))


def reduced(edges: Mapping[str, Set[str]]) -> Mapping[str, Set[str]]:
    """Return the edges without those that are implied by other edges."""
    behind: dict[str, set[str]] = {}
    for name in TopologicalSorter(edges).static_order():
        behind[name] = set(edges[name]).union(*(behind[other] for other in edges[name]))
    return {
        name: {other for other in others if not any(other in behind[between] for between in others)}
        for name, others in edges.items()
    }


def picture() -> str:
    """Return the picture of the packages, as Mermaid."""
    lines = [
        f"    {name} --> {other}\n" for name, others in sorted(reduced(imports()).items()) for other in sorted(others)
    ]
    return f"```mermaid\nflowchart TD\n{''.join(lines)}```\n"


def table() -> str:
    """Return the table of the packages: the path, the number of modules, and the first sentence of the docstring."""
    folders = sorted(path.parent for path in SOURCE.rglob("__init__.py"))
    rows = [_row(folder) for folder in folders if 1 <= len(folder.relative_to(SOURCE).parts) <= DEEPEST]
    return f"| package | modules | inside |\n|---|---|---|\n{''.join(rows)}"


def _row(folder: Path) -> str:
    name, modules = "/".join(folder.relative_to(SOURCE).parts), len(list(folder.rglob("*.py")))
    return f"| `{name}` | {modules} | {_sentence(folder)} |\n"


def _sentence(folder: Path) -> str:
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split()).replace("|", "\\|")


def written(page: str) -> str:
    """Return the page with the picture and the table of the current code."""
    before, _, rest = page.partition(START)
    after = rest.partition(END)[2]
    return f"{before}{START}\n{picture()}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
