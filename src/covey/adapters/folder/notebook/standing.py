"""Tests of whether a look is needed, and the names of the marks in the notebook."""

# A command that only reads loads this module, but not the package `looking`.

import os
import time
from typing import Final

from covey.adapters.folder.judging import aside_stamp, stamp_of
from covey.adapters.folder.notebook.records import Aside

DEEP: Final = "deep_at"
POSITION: Final = "position"
MANIFEST_POSITION: Final = "manifest_position"
MANIFEST_SIZE: Final = "manifest_size"
REGISTRY_STAMP: Final = "registry"
"""Names of marks."""

EVERY_S: Final = 60.0
"""The interval of deep looks, which also find changes in history and files that were changed in place."""
ASIDES_AT_ONCE: Final = 256

_REGISTRY: Final = "_registry.json"


def is_due(deep_at: str) -> bool:
    """Tell whether it is time for a deep look."""
    return not 0 <= time.time() - float(deep_at or "0") < EVERY_S


def is_still(root: str, aside: Aside) -> bool:
    """Tell whether an entry that was set aside is unchanged."""
    try:
        return aside_stamp(os.lstat(f"{root}/{aside.path}")) == aside.stamp
    except OSError:
        return False


def registry_stamp(root: str) -> str:
    """Return the stamp of the registry's present state; "" if there is no registry."""
    try:
        return stamp_of(os.lstat(f"{root}/{_REGISTRY}"))
    except OSError:
        return ""
