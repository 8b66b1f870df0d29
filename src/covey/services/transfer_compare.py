"""Comparison after a transfer: every message, every file content and the counts are looked up in the target store."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.core.errors import BlobMissing, StoreCorrupt
from covey.core.export_lines import Summary
from covey.core.parts import FilePart
from covey.core.portable import FiledMessage, RecordKind
from covey.core.wire import encode
from covey.ports.blobs import Blobs
from covey.ports.store import Store, Transaction
from covey.ports.views import Views
from covey.services.transfer_export import MESSAGES_PAGE, Export
from covey.services.transfer_import import Tell

UNCOUNTED: Final = frozenset({RecordKind.BLOB, RecordKind.PRUNED, RecordKind.SETTING})
"""Kinds that are checked otherwise, are exported by the page, or have entries that are not exported."""


class Compared(NamedTuple):
    """The counts of verified records."""

    messages: int
    files: int


class Copy(NamedTuple):
    """The target of an export."""

    name: str
    store: Store
    blobs: Blobs
    views: Views


async def compare(export: Export, copy: Copy, summary: Summary, tell: Tell) -> Compared:
    """Verify every message of an export and the content of every file. Raise StoreCorrupt if one is missing or differs.
    A message that was pruned in the target since is no loss."""
    total = summary.counts.get(RecordKind.MESSAGE, 0)
    files: set[str] = set()
    after = found = 0
    while page := await export.view.messages(after, MESSAGES_PAGE):
        there = await _there(copy, [placed.record for placed in page])
        parts = [part for filed in there for part in filed.message.parts]
        for digest in {part.digest for part in parts if isinstance(part, FilePart)} - files:
            if digest not in export.missing:
                await _check_content(copy, digest)
                files.add(digest)
        after = page[-1].place
        found += len(there)
        tell("comparing", found, total)
    return Compared(found, len(files))


async def check_counts(copy: Copy, summary: Summary) -> None:
    """Raise StoreCorrupt if there are fewer records of a kind than were imported."""
    async with copy.views.view() as view:
        totals = await view.totals()
    for kind in RecordKind:
        taken, there = summary.counts.get(kind, 0), totals.get(kind, 0)
        if kind not in UNCOUNTED and there < taken:
            raise StoreCorrupt(copy.name, f"it should hold {taken:,} records of kind {kind} and holds {there:,}")


async def _there(copy: Copy, expected: Sequence[FiledMessage]) -> Sequence[FiledMessage]:
    """Return the messages that are there unchanged."""

    async def operation(tx: Transaction) -> Sequence[FiledMessage]:
        found: list[FiledMessage] = []
        for filed in expected:
            message_id = filed.message.id
            message = await tx.messages.get(message_id)
            if message is None and await tx.pruned.has(message_id):
                continue
            if message is None:
                raise StoreCorrupt(copy.name, f"message {message_id} is missing")
            if encode(message) != encode(filed.message):
                raise StoreCorrupt(copy.name, f"message {message_id} is not what it was")
            found.append(filed)
        return found

    return await copy.store.read(operation, is_long=True)


async def _check_content(copy: Copy, digest: str) -> None:
    try:
        await copy.blobs.get(digest)
    except BlobMissing:
        raise StoreCorrupt(copy.name, f"the content of file {digest} is missing, or is not what it was") from None
