"""Flows between agents: samples that form a circle, and samples that do not."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from covey.core.limits import FLOW_SAMPLE
from covey.core.storms.budget import REST
from covey.core.storms.flow import (
    LARGEST,
    WINDOW,
    Flow,
    Party,
    best_circle,
    counted,
    exchanged,
    fit_to_follow,
    keeps_pace,
    sampled,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
A, B, C = Party("a"), Party("b"), Party("c")


def flow(source: Party, target: Party, *samples: int, exchanged: int = 0) -> Flow:
    """Return a flow whose samples, in this order, were all initiatives."""
    return Flow(source, target, NOW, tuple(reversed(samples)), max(samples, default=0), exchanged)


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans(), st.integers(0, 90)), max_size=40))
def test_a_flow_remembers_its_last_samples_and_no_more(steps: list[tuple[int, bool, int]]) -> None:
    known, seq, now = Flow(A, B, NOW), 0, NOW
    for more, is_initiative, minutes in steps:
        seq += more
        now += timedelta(minutes=minutes)
        rests = now - known.at >= REST
        known = sampled(known, seq, now, is_initiative=is_initiative)
        assert known.samples[0] == seq
        assert len(known.samples) <= (1 if rests else WINDOW)
        assert known.has_initiative or not is_initiative
        assert known.at == now


def test_a_flow_of_returns_alone_has_no_initiative_until_one_comes() -> None:
    known = sampled(Flow(A, B, NOW), 1, NOW, is_initiative=True)
    for seq in range(2, WINDOW + 1):
        known = sampled(known, seq, NOW, is_initiative=False)
        assert known.has_initiative
    assert not sampled(known, 99, NOW, is_initiative=False).has_initiative
    assert not sampled(Flow(A, B, NOW), 1, NOW, is_initiative=False).has_initiative


def test_flows_keep_pace_while_each_has_a_sample_in_the_window_of_the_other() -> None:
    steady = flow(A, B, *range(0, 200, 10))
    full = steady._replace(samples=steady.samples[:WINDOW])
    assert keeps_pace(full, flow(B, A, 185))
    assert keeps_pace(full, flow(B, A, full.samples[-1]))
    assert not keeps_pace(full, flow(B, A, full.samples[-1] - 1))
    assert not keeps_pace(full, flow(B, A))


@given(st.integers(2, LARGEST + 2), st.integers(0, 9))
def test_a_circle_is_found_up_to_its_largest_size(size: int, count: int) -> None:
    parties = [Party(f"p{n}") for n in range(size)]
    steps = [flow(parties[n], parties[(n + 1) % size], n + 1, exchanged=count) for n in range(size)]
    onward = {step.source: fit_to_follow(steps[0], [step], NOW) for step in steps[1:]}
    circle = best_circle(steps[0], onward)
    assert [*circle] == (steps if size <= LARGEST else [])
    assert exchanged(circle) == (FLOW_SAMPLE * size * count if size <= LARGEST else 0)


def test_of_several_circles_the_one_that_exchanged_most_is_taken() -> None:
    first, back = flow(A, B, 1, exchanged=5), flow(B, A, 2, exchanged=1)
    on, home = flow(B, C, 3, exchanged=4), flow(C, A, 4, exchanged=3)
    assert [*best_circle(first, {B: [on, back], C: [home]})] == [first, on, home]
    assert [*best_circle(first, {B: [on, back]})] == [first, back]
    assert [*best_circle(first, {B: [on]})] == []


def test_a_flow_that_rested_or_has_no_initiative_is_part_of_no_circle() -> None:
    first, back = flow(A, B, 1), flow(B, A, 2)
    assert [*fit_to_follow(first, [back], NOW)] == [back]
    assert not fit_to_follow(first, [back._replace(initiative=1)], NOW)
    assert not fit_to_follow(first, [back], NOW + REST)


@given(st.lists(st.booleans(), max_size=60))
def test_the_exchanged_count_is_never_negative_or_above_the_number_of_samples(found: list[bool]) -> None:
    known = Flow(A, B, NOW)
    for is_in_circle in found:
        known = counted(known, is_in_circle=is_in_circle)
        assert 0 <= known.exchanged <= len(found)
