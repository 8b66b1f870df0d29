"""The verdict: the acknowledgements that workers received are compared with the space."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from covey.adapters.sqlite.care.integrity import integrity_check
from covey.core.errors import MessagePruned
from covey.core.identity import Identity
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.engines import connect_inline, parse_store_url
from covey.ports.store import Transaction
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services
from tests.chaos.diary import Done, Entry, Sent, Trouble, read_diaries
from tests.properties.world import finish


class Verdict(NamedTuple):
    accepted: int
    done: int
    """Acknowledged settlements, archivings and withdrawals."""
    pruned: int
    lost: Sequence[str]
    twice: Sequence[str]
    disagreements: Sequence[str]
    troubles: Sequence[str]

    @property
    def faults(self) -> Sequence[str]:
        return (*self.lost, *self.twice, *self.disagreements, *self.troubles)


def judge(diaries: Path, url: str, database: Path | None, *, is_over: bool) -> Verdict:
    """Judge a space, which may be in use.

    `is_over` says that no process uses it any more; `database` is then checked too.
    """
    # The diary entries read here were acknowledged before the read of the space below.
    entries = list(read_diaries(diaries))
    ports = connect_inline(parse_store_url(url), ())
    space = Services(ports)
    try:
        lost = list(finish(ports.store.read(lambda tx: _missing(tx, entries))))
        found = [str(disagreement) for disagreement in finish(space.audit.check())]
        pruned = finish(ports.store.read(lambda tx: tx.pruned.count()))
        if is_over:
            found.extend(finish(_changed_by_sending_again(space, entries)))
    finally:
        finish(ports.close())
    if is_over and database is not None:
        found.extend(integrity_check(database))
    return Verdict(
        accepted=sum(isinstance(entry, Sent) for entry in entries),
        done=sum(isinstance(entry, Done) for entry in entries),
        pruned=pruned,
        lost=lost,
        twice=[line for line in found if line.startswith("copies in ")],
        disagreements=[line for line in found if not line.startswith("copies in ")],
        troubles=[entry.text for entry in entries if isinstance(entry, Trouble)],
    )


async def _missing(tx: Transaction, entries: Iterable[Entry]) -> Sequence[str]:
    """Return the acknowledged records that are missing."""
    missing: list[str] = []
    for entry in entries:
        if isinstance(entry, Trouble):
            continue
        message_id = entry.draft.id if isinstance(entry, Sent) else entry.message_id
        assert message_id is not None
        copies = await tx.deliveries.of_message(message_id)
        if await tx.pruned.has(message_id):
            missing.extend(f"{copy.id} is left of what was pruned" for copy in copies)
        elif await tx.messages.get(message_id) is None:
            missing.append(f"message {message_id} was acknowledged and is not there")
        elif isinstance(entry, Sent):
            if tuple(copy.id for copy in copies) != entry.deliveries:
                missing.append(f"message {message_id} had the deliveries {entry.deliveries} and has {copies}")
        elif not _is_still(entry, copies):
            missing.append(f"message {message_id} was {entry.what} by {entry.agent} and is {copies}")
    return missing


def _is_still(entry: Done, copies: Sequence[DeliveryRecord]) -> bool:
    own = [copy for copy in copies if copy.agent == entry.agent]
    match entry.what:
        case "settled":
            return any(copy.state is DeliveryState.HANDLED for copy in own)
        case "archived":
            return all(copy.archived_at is not None for copy in own)
        case _:
            return all(copy.state is DeliveryState.WITHDRAWN for copy in copies)


async def _changed_by_sending_again(space: Services, entries: Iterable[Entry]) -> Sequence[str]:
    """Send every acknowledged message once more. Return the resulting changes; there should be none."""
    changed: list[str] = []
    before = await space.history.last()
    for entry in entries:
        if isinstance(entry, Sent):
            try:
                receipt = await space.mail.send(entry.draft, Identity(entry.agent), SendPolicy())
            except MessagePruned:
                continue  # a pruned message is refused permanently
            if tuple(copy.id for copy in receipt.deliveries) != entry.deliveries:
                changed.append(f"message {entry.draft.id} was delivered otherwise when it was sent again: {receipt}")
    after = await space.history.last()
    if after != before:
        changed.append(f"sending again wrote the events {before + 1} to {after}")
    return changed
