"""Noting: the events of a commit, recorded in its own transaction, so that the next pass need not read them again."""

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
"""The number of events per page."""

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
"""Events that may change the place of a message's files."""

Stands = Mapping[MessageId, Sequence[Standing]]
NOTHING: Final[Stands] = {}


class Page(NamedTuple):
    """Consecutive events of the journal."""

    after: int
    """The position before the first of these events."""
    events: Sequence[Event]
    last: int
    """The last position of the journal."""
    stands: Stands = NOTHING
    """The target states of copies after these events, as far as they were read."""


def touched(events: Sequence[Event]) -> list[MessageId]:
    """Return the messages whose files may have to move."""
    return [event.message_id for event in events if event.action in MOVING and event.message_id is not None]


async def read_page(tx: Transaction, after: int) -> Page:
    """Return a page of events after a position."""
    events = await tx.journal.read(after, PAGE)
    if len(events) < PAGE:
        return Page(after, events, events[-1].position if events else await tx.journal.last())
    return Page(after, events, await tx.journal.last())


def noting(operation: Operation[T], layout: Layout) -> Operation[tuple[T, Page]]:
    """Wrap an operation so that it also returns its events."""

    async def noted(tx: Transaction) -> tuple[T, Page]:
        after = await tx.journal.last()
        record = Record()
        value = await operation(cast(Transaction, RecordingTransaction(tx, record)))
        if not record.events:
            return value, Page(after, (), after)
        last = await tx.journal.last()
        # Only the journal knows the positions; but a single event has the last one.
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
    """Join pages from a position on as long as they are contiguous; None if there is none. The latest state of a
    message counts."""
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
