"""Noting: what a commit did, seen in its own transaction, so that the pass after it need not ask the ledger again."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar, cast

from covey.core.event import Action, Event
from covey.core.ids import MessageId
from covey.core.layout import Layout
from covey.ports.store import Operation, Transaction
from covey.services.mirror_recording import Record, RecordingTransaction
from covey.services.mirror_standing import LONG, Standing, standing_of

T = TypeVar("T")

PAGE: Final = 500
"""How many events are seen to at once."""

MOVING: Final = frozenset(
    {
        Action.MESSAGE_SENT,
        Action.DELIVERY_MOVED,
        Action.DELIVERY_PLACED,
        Action.DELIVERY_ARCHIVED,
        Action.TICKET_OPENED,
        Action.TICKET_MOVED,
    }
)
"""What may change where the files of a message stand."""

Stands = Mapping[MessageId, Sequence[Standing]]
NOTHING: Final[Stands] = {}


class Page(NamedTuple):
    """Some events that follow each other in the journal."""

    after: int
    """The position before the first of them."""
    events: Sequence[Event]
    last: int
    """How far the journal goes."""
    stands: Stands = NOTHING
    """How copies should stand after these events, as far as it was seen."""


def touched(events: Sequence[Event]) -> list[MessageId]:
    """Return the messages whose files may have to move."""
    return [event.message_id for event in events if event.action in MOVING and event.message_id is not None]


async def read_page(tx: Transaction, after: int) -> Page:
    """Return what happened after a position."""
    events = await tx.journal.read(after, PAGE)
    if len(events) < PAGE:
        return Page(after, events, events[-1].position if events else await tx.journal.last())
    return Page(after, events, await tx.journal.last())


def noting(operation: Operation[T], layout: Layout) -> Operation[tuple[T, Page]]:
    """Return an operation that also returns what it did."""

    async def noted(tx: Transaction) -> tuple[T, Page]:
        after = await tx.journal.last()
        record = Record()
        value = await operation(cast(Transaction, RecordingTransaction(tx, record)))
        if not record.events:
            return value, Page(after, (), after)
        last = await tx.journal.last()
        # The journal alone knows their positions; but that of one is the last.
        events = [record.events[0]._replace(position=last)]
        if len(record.events) > 1:
            events = await tx.journal.read(after, PAGE)
        messages = dict.fromkeys(touched(events))
        stands = NOTHING
        if len(messages) <= LONG:
            stands = {one: list(await standing_of(tx, layout, one, record.filed(one))) for one in messages}
        return value, Page(after, events, last, stands)

    return noted


def chained(after: int, noted: Collection[Page]) -> Page | None:
    """Return what was noted from a position on, as far as nothing is missing in between; None where that is nothing.
    What was seen later counts."""
    events: list[Event] = []
    stands: dict[MessageId, Sequence[Standing]] = {}
    place = after
    for page in sorted(noted, key=lambda page: page.after):
        if page.after == place and page.events:
            events += page.events
            for message_id in touched(page.events):
                stands.pop(message_id, None)
            stands |= page.stands
            place = page.events[-1].position
    return Page(after, events, max(page.last for page in noted), stands) if events else None
