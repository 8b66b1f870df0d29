"""Backoff: pauses double up to a limit."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from covey.core.backoff import Backoff

SPANS = st.floats(min_value=0.001, max_value=1e6)


@given(first=SPANS, longest=SPANS, failures=st.integers(min_value=1, max_value=10_000))
def test_a_pause_never_shrinks_and_never_exceeds_the_longest(first: float, longest: float, failures: int) -> None:
    backoff = Backoff(first, longest)
    assert backoff.after(failures) <= backoff.after(failures + 1) <= longest


def test_the_sequence_of_pauses_matches_the_pause_after_each_failure() -> None:
    backoff = Backoff(first=1.0, longest=10.0)
    assert [*islice(backoff.pauses(), 6)] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert [backoff.after(n) for n in range(1, 7)] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
