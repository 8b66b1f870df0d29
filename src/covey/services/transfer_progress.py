"""Import progress: stored in the target space, in the commits of the import itself."""

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from covey.ports.store import Transaction

_PREFIX: Final = "import-"


class ImportProgress(NamedTuple):
    lines: int = 0
    """The number of imported records."""
    is_done: bool = False
    offsets: Mapping[str, int] = {}
    """For agents that had mail here before: the offset that is added to the numbers of imported mail."""


def is_progress(setting: str) -> bool:
    """Tell whether a setting stores import progress, which concerns this space alone and is not exported."""
    return setting.startswith(_PREFIX)


async def read_progress(tx: Transaction, digest: str) -> ImportProgress | None:
    """Return the progress of an export's import; None if it was never begun."""
    text = await tx.settings.get(_PREFIX + digest)
    return ImportProgress(*json.loads(text)) if text is not None else None


async def write_progress(tx: Transaction, digest: str, progress: ImportProgress) -> None:
    """Store the progress of an import."""
    await tx.settings.put(_PREFIX + digest, json.dumps(progress))
