"""How things stand: what tells whether a look is worth while, and what it is called in the notebook."""

# A command that only reads loads no more than this of looking.

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
"""Marks."""

EVERY_S: Final = 60.0
"""How often everything is looked at that is not looked at each time: history, and files changed in their places."""
ASIDES_AT_ONCE: Final = 256

_REGISTRY: Final = "_registry.json"


def is_due(deep_at: str) -> bool:
    """Tell whether it is time to look at everything."""
    return not 0 <= time.time() - float(deep_at or "0") < EVERY_S


def is_still(root: str, aside: Aside) -> bool:
    """Tell whether what was set aside is as it was."""
    try:
        return aside_stamp(os.lstat(f"{root}/{aside.path}")) == aside.stamp
    except OSError:
        return False


def registry_stamp(root: str) -> str:
    """Return what tells this state of the registry from others; "" where there is none."""
    try:
        return stamp_of(os.lstat(f"{root}/{_REGISTRY}"))
    except OSError:
        return ""
