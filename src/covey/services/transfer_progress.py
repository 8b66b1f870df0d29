"""How far an import has come, kept in the space that it goes into, in the commits that it is made of."""

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from covey.ports.store import Transaction

_PREFIX: Final = "import-"


class ImportProgress(NamedTuple):
    lines: int = 0
    """How many records are here."""
    is_done: bool = False
    offsets: Mapping[str, int] = {}
    """For agents that had mail here before: what is added to the numbers of the mail that comes."""


def is_progress(setting: str) -> bool:
    """Tell whether a setting is of this kind: it concerns the space that it is in, and does not travel."""
    return setting.startswith(_PREFIX)


async def read_progress(tx: Transaction, digest: str) -> ImportProgress | None:
    """Return how far the import of an export has come; None where it was never begun."""
    text = await tx.settings.get(_PREFIX + digest)
    return ImportProgress(*json.loads(text)) if text is not None else None


async def write_progress(tx: Transaction, digest: str, progress: ImportProgress) -> None:
    """Keep how far it has come."""
    await tx.settings.put(_PREFIX + digest, json.dumps(progress))
