"""Late loading: properties and names that import modules on first use, so that a short-lived program loads little.

The body of a late property imports the modules that it needs, and runs once. To a type checker it is a plain property
of the body's return type (late.pyi); `functools.cached_property` is not, and would not match a Protocol.
"""

from collections.abc import Callable, Mapping
from functools import cached_property as late
from importlib import import_module

__all__ = ["late", "late_names"]


def late_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return a `__getattr__` for a package. `homes` maps each of its names to a module; __init__.pyi has their
    types."""

    def find(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    return find
