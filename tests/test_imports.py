"""Rules for imports within the package that import-linter can't check.

import-linter reads import statements, also those inside functions. It does not see a name that the root package
resolves at its first use, nor a module that is loaded by a name in a string.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

pytestmark = pytest.mark.requirement("house.imports")

REPOSITORY: Final = Path(__file__).parents[1]
ROOT: Final = "covey"
"""The public face. It loads its names late, and is for users of the package alone."""

ENTRY: Final = re.compile(r'"[^"]+ -> [^"]+"')
"""An import that the configuration tells import-linter to ignore."""


@cache
def read_modules() -> Mapping[str, ast.Module]:
    """Return the syntax tree of each module of the package, by its name."""
    source = REPOSITORY / "src"
    found: dict[str, ast.Module] = {}
    for path in sorted((source / ROOT).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(), path)
    return found


def names_root(tree: ast.Module) -> bool:
    """Return whether a module imports the root package: `import covey`, `from covey import …`, or `import covey.x`,
    which binds the name `covey`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == ROOT:
            return True
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == ROOT or (alias.name.startswith(f"{ROOT}.") and alias.asname is None):
                    return True
    return False


def targets(tree: ast.Module, known: Set[str]) -> Iterator[str]:
    """Yield the modules among `known` that a module can load, early or late, by a statement or by a name in a string.
    An f-string that begins with the name of a package stands for each module in it."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name in known)
            case ast.ImportFrom(module=str(module), names=names):
                for alias in names:
                    inner = f"{module}.{alias.name}"
                    yield from [inner] if inner in known else {module} & known
            case ast.Constant(value=str(text)) if "." in text and text in known:
                yield text
            case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]) if text.endswith(".") and text[:-1] in known:
                yield from (name for name in known if name.rpartition(".")[0] == text[:-1])
            case _:
                pass


def find_cycle(modules: Mapping[str, ast.Module]) -> Sequence[str]:
    """Return modules that import each other in a circle, with the first one repeated at the end; empty if there is
    none."""
    # The root package is not a target: another rule keeps every module from importing it.
    known = set(modules) - {ROOT}
    try:
        TopologicalSorter({name: {*targets(tree, known)} - {name} for name, tree in modules.items()}).prepare()
    except CycleError as error:
        return [*reversed(error.args[1])]
    return ()


def unexplained(configuration: str) -> Sequence[str]:
    """Return the ignored imports without a comment at the end of their line or on the line before."""
    lines = ["", *configuration.splitlines()]
    return [
        entry
        for before, line in pairwise(lines)
        for entry in ENTRY.findall(line)
        if "#" not in line and not before.lstrip().startswith("#")
    ]


def test_no_module_imports_the_root_package() -> None:
    assert {name for name, tree in read_modules().items() if names_root(tree)} == set()


def test_no_modules_import_each_other_in_a_circle_early_or_late() -> None:
    cycle = find_cycle(read_modules())
    assert not cycle, " -> ".join(cycle)


def test_every_ignored_import_has_a_reason() -> None:
    configuration = (REPOSITORY / "pyproject.toml").read_text()
    assert unexplained(configuration) == []
    contracts: list[dict[str, Any]] = tomllib.loads(configuration)["tool"]["importlinter"]["contracts"]
    ignored = [entry for contract in contracts for entry in contract.get("ignore_imports", ())]
    assert [f'"{entry}"' for entry in ignored] == ENTRY.findall(configuration)


@pytest.mark.parametrize(
    "statement",
    ["import covey", "import covey as c", "from covey import Space", "from covey import ports", "import covey.ports"],
)
def test_an_import_of_the_root_package_is_found(statement: str) -> None:
    assert names_root(ast.parse(f"def f():\n    {statement}\n"))


@pytest.mark.parametrize("statement", ["import covey.ports as ports", "from covey.ports import store", "import coveys"])
def test_an_import_of_a_submodule_is_no_import_of_the_root_package(statement: str) -> None:
    assert not names_root(ast.parse(statement))


@pytest.mark.parametrize(
    "source",
    [
        "import covey.b.c",
        "from covey.b import c",
        "from covey.b.c import name",
        "def f():\n    from covey.b.c import name",
        "__getattr__ = late_names(__name__, {'name': 'covey.b.c'})",
        "import_module(f'covey.b.{name}')",
    ],
)
def test_a_circle_is_found_however_its_modules_are_loaded(source: str) -> None:
    modules = {"covey.a": ast.parse(source), "covey.b": ast.parse(""), "covey.b.c": ast.parse("")}
    assert not find_cycle(modules)
    circle = find_cycle({**modules, "covey.b.c": ast.parse("import covey.a as a")})
    assert set(circle) == {"covey.a", "covey.b.c"}


def test_an_ignored_import_without_a_comment_is_found() -> None:
    bare = 'ignore_imports = [\n    "a -> b", # because\n    "c -> d",\n    # because\n    "e -> f",\n]'
    assert unexplained(bare) == ['"c -> d"']


def test_a_class_name_is_defined_once() -> None:
    homes: dict[str, list[str]] = {}
    for module, tree in read_modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}
