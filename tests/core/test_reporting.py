"""Progress reports of a long operation: a receiver that gets a report also gets the final one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.reporting import Reporting
from tests.reports import Reports


@given(st.lists(st.tuples(st.integers(0, 100), st.none() | st.integers(0, 100)), min_size=1), st.booleans())
def test_the_final_report_is_the_last_and_the_only_one_with_done_equal_to_total(
    steps: list[tuple[int, int | None]], has_failed: bool
) -> None:
    reported = Reports()
    try:
        with Reporting(reported, "fetching") as reporting:
            for done, total in steps:
                reporting.at(done, total)
            if has_failed:
                raise LookupError
    except LookupError:
        assert has_failed
    assert [done for _, done, _ in reported] == [*(done for done, _ in steps), steps[-1][0]]
    assert [done == total for _, done, total in reported] == [False] * len(steps) + [True]


@pytest.mark.parametrize("has_failed", [False, True])
def test_an_operation_without_progress_is_not_reported(has_failed: bool) -> None:
    reported = Reports()
    try:
        with Reporting(reported, "fetching"):
            if has_failed:
                raise LookupError
    except LookupError:
        assert has_failed
    assert reported == []
