"""Late: what is loaded when it is first used, so that a short-lived program waits only for what it needs.

A late property imports the modules that it needs in its body, and is worked out once. To a type checker it is a plain
property of the type that its body has (late.pyi); `functools.cached_property` is not, and would fit no Protocol.
"""

from collections.abc import Callable, Mapping
from functools import cached_property as late
from importlib import import_module

__all__ = ["late", "late_names"]


def late_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return a `__getattr__` for a package whose names live in the modules `homes`; __init__.pyi has their types."""

    def find(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    return find
