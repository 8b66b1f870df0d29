"""The offer: one showing of deliveries to a model, which holds them for the time of its lease; and the graded evidence
that a delivery reached the model's context."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple, cast

from covey.core.errors import Invalid
from covey.core.limits import OFFER_LEASE
from covey.core.names import DeliveryId, OfferId, SessionId


class EvidenceGrade(StrEnum):
    WITNESSED = "witnessed"
    """The offer's nonce is in the transcript before a later answer, or Covey's own loop received the response."""

    NAMED = "named"
    """The model used the message's id in a call."""

    INFERRED = "inferred"
    """An event happened that only a later answer of the model can cause."""


_STRENGTH: Final = {EvidenceGrade.INFERRED: 1, EvidenceGrade.NAMED: 2, EvidenceGrade.WITNESSED: 3}


def at_least(grade: EvidenceGrade | None, wanted: EvidenceGrade) -> bool:
    """Tell whether `grade` is as strong as `wanted`. None, for no evidence, never is."""
    return grade is not None and _STRENGTH[grade] >= _STRENGTH[wanted]


def strongest(grades: Iterable[EvidenceGrade]) -> EvidenceGrade:
    """Return the strongest of several grades."""
    return max(grades, key=_STRENGTH.__getitem__)


def better(old: EvidenceGrade | None, new: EvidenceGrade) -> EvidenceGrade:
    """Return the stronger of two grades: further evidence never weakens earlier evidence."""
    return new if old is None or _STRENGTH[new] > _STRENGTH[old] else old


class Extent(NamedTuple):
    """The characters of a body from `start` up to `stop`, of `length`."""

    start: int
    stop: int
    length: int

    @property
    def is_whole(self) -> bool:
        return self.start == 0 and self.stop == self.length

    @property
    def is_empty(self) -> bool:
        """True if the extent has no characters although the body has some."""
        return self.stop <= self.start and self.length > 0

    def __str__(self) -> str:
        return f"characters {self.start + 1:,}–{self.stop:,} of {self.length:,}"


def whole(length: int) -> Extent:
    """Return the extent of a whole body."""
    return Extent(0, length, length)


class Span(NamedTuple):
    """A part of a body with evidence that a model had it in context."""

    start: int
    stop: int
    grade: EvidenceGrade


class SeenParts(NamedTuple):
    """The parts of a delivery that one session was shown."""

    length: int
    """The number of characters in the whole body."""
    named: tuple[int, int]
    """The part that every offer showed. A model that names the message had at least this part in context."""
    spans: tuple[Span, ...] = ()
    """The parts with evidence, in order; they touch only where their grades differ."""

    @property
    def shown(self) -> int:
        """The number of characters with evidence."""
        return sum(span.stop - span.start for span in self.spans)

    @property
    def resumes_at(self) -> int:
        """The offset of the first character without evidence; the length of the body if all have it."""
        reached = 0
        for span in self.spans:
            if span.start > reached:
                break
            reached = span.stop
        return reached

    @property
    def grade(self) -> EvidenceGrade | None:
        """The best grade of evidence that covers the whole body; None if a part has no evidence."""
        best_first = (EvidenceGrade.WITNESSED, EvidenceGrade.NAMED, EvidenceGrade.INFERRED)
        return next((grade for grade in best_first if self._is_covered(grade)), None)

    def _is_covered(self, grade: EvidenceGrade) -> bool:
        good = [span for span in self.spans if at_least(span.grade, grade)]
        reached = 0
        for span in good:
            if span.start > reached:
                return False
            reached = span.stop
        return bool(good) and reached >= self.length

    def __str__(self) -> str:
        return f"shown {self.shown:,} of {self.length:,} characters"


def offered(seen: SeenParts | None, extent: Extent) -> SeenParts:
    """Return the evidence of a delivery after one more offer. A body of another length is another body, so the evidence
    for the old one no longer counts."""
    if seen is None or seen.length != extent.length:
        return SeenParts(extent.length, (extent.start, extent.stop))
    start, stop = seen.named
    return seen._replace(named=(max(start, extent.start), min(stop, extent.stop)))


def confirmed(seen: SeenParts | None, extent: Extent, grade: EvidenceGrade) -> SeenParts:
    """Return the evidence of a delivery after one offer was confirmed. Earlier evidence stays."""
    known = seen if seen is not None and seen.length == extent.length else offered(None, extent)
    if extent.is_empty:
        return known
    spans = tuple(_joined(_with(known.spans, Span(extent.start, extent.stop, grade))))
    return known._replace(spans=spans)


def proven(
    seen: SeenParts | None, extent: Extent | None, grade: EvidenceGrade, *, is_there: bool
) -> tuple[SeenParts | None, EvidenceGrade | None]:
    """Return the evidence of a delivery after one offer of it was confirmed, and the grade of the evidence for its
    whole body: None if a part has no evidence. An extent of None means that the whole body was shown.

    `is_there` is false if the offer was in another context than the one that now holds the delivery. Evidence from that
    context does not count for this one.
    """
    if is_there and extent is not None:
        after = confirmed(seen, extent, grade)
        return after, after.grade
    return seen, grade if extent is None or extent.is_whole else None


def _with(spans: Sequence[Span], new: Span) -> Iterator[Span]:
    """Yield the spans and a new one, sorted and without overlaps. Where two overlap, the better grade counts."""
    edges = sorted({edge for span in (*spans, new) for edge in (span.start, span.stop)})
    if edges == [new.start]:  # an empty body
        edges *= 2
    for start, stop in pairwise(edges):
        over = [span.grade for span in (*spans, new) if span.start <= start and stop <= span.stop]
        if over:
            yield Span(start, stop, strongest(over))


def _joined(spans: Iterator[Span]) -> Iterator[Span]:
    """Yield the spans, with adjacent spans of the same grade joined."""
    last: Span | None = None
    for span in spans:
        if last is not None and last.stop == span.start and last.grade is span.grade:
            last = last._replace(stop=span.stop)
        else:
            if last is not None:
                yield last
            last = span
    if last is not None:
        yield last


def parse_extent(value: object) -> Extent:
    """Parse an extent from a list of JSON: start, stop, length."""
    match value:
        case [int(start), int(stop), int(length)] if 0 <= start <= stop <= length:
            return Extent(start, stop, length)
        case _:
            raise Invalid("extent", value, "use [start, stop, length]")


def parse_seen(value: object) -> SeenParts:
    """Parse a Seen from a list of JSON: the length, the part that naming proves, the parts with evidence."""
    match value:
        case [int(length), [int(start), int(stop)], list()]:
            spans = cast(list[list[object]], value)[2]
            return SeenParts(length, (start, stop), tuple(_parse_span(span, length) for span in spans))
        case _:
            raise Invalid("seen", value, "use [length, [start, stop], [[start, stop, grade], …]]")


def _parse_span(value: object, length: int) -> Span:
    match value:
        case [int(start), int(stop), str(grade)] if 0 <= start <= stop <= length and grade in set(EvidenceGrade):
            return Span(start, stop, EvidenceGrade(grade))
        case _:
            raise Invalid("span", value, "use [start, stop, grade]")


class Presentation(StrEnum):
    """The policy of showing a delivery again; it is independent of the delivery's state."""

    ONCE = "once"
    """Show a delivery until there is evidence that it was in context."""

    UNTIL_HANDLED = "until_handled"
    """Show a delivery in every model call until it is handled."""


class Offer(NamedTuple):
    id: OfferId
    session: SessionId
    turn: str
    """The caller's name for the model call that the offer was made for."""
    deliveries: tuple[DeliveryId, ...]
    offered_at: datetime
    lease_until: datetime
    presentation: Presentation = Presentation.ONCE
    ended_at: datetime | None = None
    end_reason: str | None = None
    lease: timedelta = OFFER_LEASE
    """The time by which a renewal extends the offer."""
    extents: tuple[Extent, ...] = ()
    """The shown extent of each delivery, in their order. Offers of older versions have none: they count as whole."""

    def extent_of(self, delivery: DeliveryId) -> Extent | None:
        """Return the extent that the offer shows of a delivery; None if that is not known."""
        return self.extents[self.deliveries.index(delivery)] if self.extents else None

    def is_live(self, now: datetime) -> bool:
        return self.ended_at is None and self.lease_until > now
