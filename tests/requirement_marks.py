"""The manifest of requirements, and the ids that tests name, read from their sources.

Sources are read, not collected, so that the answer is the same whichever tests a run selects.
"""

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ORIGINS = frozenset({"peers", "dialogue", "sessions", "broadcast", "mailbox", "beyond"})


@dataclass(frozen=True)
class Requirement:
    id: str
    origin: str
    text: str
    claimed: bool


def read_manifest(path: Path) -> Mapping[str, Requirement]:
    """Return the requirements of a manifest by id. Raise ValueError if an id is listed twice."""
    manifest: dict[str, Requirement] = {}
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["requirement"]:
        requirement = Requirement(**entry)
        if requirement.id in manifest:
            raise ValueError(f"{path.name}: {requirement.id} is listed twice")
        if requirement.origin not in ORIGINS:
            raise ValueError(f"{path.name}: {requirement.id} has the unknown origin {requirement.origin!r}")
        manifest[requirement.id] = requirement
    return manifest


def named_ids(folders: Iterable[Path]) -> Mapping[str, str]:
    """Return every id that a `pytest.mark.requirement(...)` under `folders` names, with one place that does.

    Decorated functions and classes, `pytestmark` and `pytest.param(..., marks=...)` all count.
    """
    named: dict[str, str] = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        for line, requirement_id in _marks(ast.parse(path.read_text(encoding="utf-8")), path):
            named.setdefault(requirement_id, f"{path}:{line}")
    return named


def disagreements(manifest: Mapping[str, Requirement], named: Mapping[str, str]) -> list[str]:
    """Return a sentence for each id on which the manifest and the tests differ."""
    unknown = [
        f"{place} names {id_}, which is not in the manifest" for id_, place in named.items() if id_ not in manifest
    ]
    unclaimed = [
        f"{place} names {id_}, which the manifest does not claim"
        for id_, place in named.items()
        if id_ in manifest and not manifest[id_].claimed
    ]
    untested = [
        f"{r.id} is claimed, and no test names it" for r in manifest.values() if r.claimed and r.id not in named
    ]
    return unknown + unclaimed + untested


def _marks(tree: ast.Module, path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("test"):
            if any(_is_mark(decorator) for decorator in node.decorator_list):
                raise ValueError(f"{path}:{node.lineno}: {node.name} names a requirement and is not a test")
        elif isinstance(node, ast.Call) and _is_mark(node):
            yield from ((node.lineno, _literal(argument, path)) for argument in node.args)


def _is_mark(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in {
        "pytest.mark.requirement",
        "mark.requirement",
    }


def _literal(argument: ast.expr, path: Path) -> str:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    raise ValueError(f"{path}:{argument.lineno}: the id of a requirement is written out, not computed")
