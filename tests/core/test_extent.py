"""Extents: evidence covers the characters that were shown, and a body with a gap does not count as seen."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.json import to_json
from covey.core.ledger.offer import (
    EvidenceGrade,
    Extent,
    SeenParts,
    Span,
    at_least,
    better,
    confirmed,
    offered,
    parse_extent,
    parse_seen,
    proven,
    whole,
)

LENGTH = 12
GRADES = st.sampled_from(EvidenceGrade)
BODY_EXTENTS = st.integers(0, LENGTH).flatmap(
    lambda start: st.integers(start, LENGTH).map(lambda stop: Extent(start, stop, LENGTH))
)
SHOWINGS = st.lists(st.tuples(BODY_EXTENTS, GRADES), max_size=8)


def seen_after(showings: list[tuple[Extent, EvidenceGrade]]) -> SeenParts | None:
    seen: SeenParts | None = None
    for extent, grade in showings:
        seen = confirmed(offered(seen, extent), extent, grade)
    return seen


def graded(showings: list[tuple[Extent, EvidenceGrade]]) -> list[EvidenceGrade | None]:
    """Return the best evidence for each character, computed by brute force."""
    best: list[EvidenceGrade | None] = [None] * LENGTH
    for extent, grade in showings:
        for place in range(extent.start, extent.stop):
            best[place] = better(best[place], grade)
    return best


@given(SHOWINGS)
def test_each_character_has_the_best_evidence_of_the_showings_that_showed_it(
    showings: list[tuple[Extent, EvidenceGrade]],
) -> None:
    seen = seen_after(showings)
    spans = seen.spans if seen is not None else ()
    found: list[EvidenceGrade | None] = [None] * LENGTH
    for span in spans:
        found[span.start : span.stop] = [span.grade] * (span.stop - span.start)
    assert found == graded(showings)
    assert list(spans) == sorted(spans)
    assert all(a.stop < b.start or (a.stop == b.start and a.grade is not b.grade) for a, b in pairwise(spans))


@given(SHOWINGS)
def test_a_body_with_a_gap_has_no_grade_and_a_whole_one_has_that_of_its_weakest_part(
    showings: list[tuple[Extent, EvidenceGrade]],
) -> None:
    seen, best = seen_after(showings), graded(showings)
    whole_grade = seen.grade if seen is not None else None
    for grade in EvidenceGrade:
        assert at_least(whole_grade, grade) == all(at_least(one, grade) for one in best)


@given(SHOWINGS)
def test_reading_resumes_at_the_first_character_without_evidence(showings: list[tuple[Extent, EvidenceGrade]]) -> None:
    seen, best = seen_after(showings), graded(showings)
    resumes_at = seen.resumes_at if seen is not None else 0
    assert resumes_at == (best.index(None) if None in best else LENGTH)
    assert (seen.shown if seen is not None else 0) == sum(one is not None for one in best)


@given(SHOWINGS, BODY_EXTENTS, GRADES)
def test_more_evidence_never_takes_any_away(
    showings: list[tuple[Extent, EvidenceGrade]], extent: Extent, grade: EvidenceGrade
) -> None:
    before, after = seen_after(showings), seen_after([*showings, (extent, grade)])
    assert (before.shown if before else 0) <= (after.shown if after else 0)
    assert (before.resumes_at if before else 0) <= (after.resumes_at if after else 0)
    if before is not None and before.grade is not None:
        assert after is not None
        assert at_least(after.grade, before.grade)


@given(st.lists(BODY_EXTENTS, min_size=1))
def test_naming_proves_what_every_offer_showed(extents: list[Extent]) -> None:
    seen: SeenParts | None = None
    for extent in extents:
        seen = offered(seen, extent)
    assert seen is not None
    shown_by_all = [n for n in range(LENGTH) if all(extent.start <= n < extent.stop for extent in extents)]
    assert [*range(*seen.named)] == shown_by_all


@given(SHOWINGS)
def test_extents_and_evidence_survive_json(showings: list[tuple[Extent, EvidenceGrade]]) -> None:
    seen = seen_after(showings)
    if seen is not None:
        assert parse_seen(json.loads(to_json(seen))) == seen
    for extent, _grade in showings:
        assert parse_extent(json.loads(to_json(extent))) == extent


def test_an_empty_body_is_seen_with_the_first_evidence() -> None:
    seen = confirmed(offered(None, whole(0)), whole(0), EvidenceGrade.NAMED)
    assert (seen.grade, seen.shown) == (EvidenceGrade.NAMED, 0)
    assert confirmed(seen, whole(0), EvidenceGrade.WITNESSED).grade is EvidenceGrade.WITNESSED


def test_evidence_from_another_context_counts_only_for_the_whole_body() -> None:
    seen = SeenParts(10, (0, 10), (Span(0, 5, EvidenceGrade.NAMED),))
    grade = EvidenceGrade.WITNESSED
    assert proven(seen, Extent(5, 10, 10), grade, is_there=False) == (seen, None)
    assert proven(seen, whole(10), grade, is_there=False) == (seen, grade)
    assert proven(None, None, grade, is_there=True) == (None, grade)


def test_a_body_of_another_length_is_another_body() -> None:
    seen = confirmed(None, whole(10), EvidenceGrade.NAMED)
    assert confirmed(seen, Extent(0, 5, 11), EvidenceGrade.NAMED).grade is None


@pytest.mark.parametrize("value", [None, [], [1, 2], [3, 2, 5], [0, 6, 5], ["0", 1, 2], "012"])
def test_a_malformed_extent_is_invalid(value: object) -> None:
    with pytest.raises(Invalid):
        parse_extent(value)


@pytest.mark.parametrize("value", [None, [1], [5, [0], []], [5, [0, 5], [[0, 5]]], [5, [0, 5], [[0, 6, "named"]]]])
def test_a_malformed_record_of_evidence_is_invalid(value: object) -> None:
    with pytest.raises(Invalid):
        parse_seen(value)


def test_extents_and_evidence_have_readable_texts() -> None:
    assert str(Extent(7223, 14_400, 52_903)) == "characters 7,224–14,400 of 52,903"
    assert str(confirmed(None, Extent(0, 7223, 52_903), EvidenceGrade.NAMED)) == "shown 7,223 of 52,903 characters"
