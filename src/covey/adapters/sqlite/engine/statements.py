"""The SQL of this package: files with named statements, read once when the module that uses them is imported."""

# No pathlib: it and importlib.resources cost a short-lived process several milliseconds.

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

SQL_FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "sql")
MIGRATIONS_FOLDER: Final = os.path.join(SQL_FOLDER, "migrations")

_NAME: Final = "-- name: "


@cache
def statements(group: str) -> Mapping[str, str]:
    """Return the statements of sql/<group>.sql by name, each on one line and without its comment."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in _read(os.path.join(SQL_FOLDER, f"{group}.sql")).splitlines():
        if line.startswith(_NAME):
            lines = found.setdefault(line.removeprefix(_NAME).strip(), [])
        elif line and not line.startswith("--"):
            lines.append(line.strip())
    # apsw looks statements up by their text each time, and short texts are faster.
    return {name: " ".join(parts) for name, parts in found.items()}


def groups() -> Sequence[str]:
    """Return the names of all groups of statements."""
    return sorted(name.removesuffix(".sql") for name in os.listdir(SQL_FOLDER) if name.endswith(".sql"))


def migration_names(folder: str = MIGRATIONS_FOLDER) -> Sequence[str]:
    """Return the names of the migrations that this version knows, in the order in which they are applied."""
    return sorted(name.removesuffix(".sql") for name in os.listdir(folder) if name.endswith(".sql"))


def migration(name: str, folder: str = MIGRATIONS_FOLDER) -> str:
    """Return the text of a migration."""
    return _read(os.path.join(folder, f"{name}.sql"))


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
