"""The rules of conftest.py, tried on small test files of their own."""

from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py").read_text()


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv("CI", raising=False)
    pytester.makeconftest(CONFTEST)
    return pytester


def test_an_async_test_is_awaited_and_can_fail(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import asyncio

        async def test_passes(tmp_path):
            await asyncio.sleep(0)
            assert tmp_path.exists()

        class TestInAClass:
            async def test_fails(self):
                await asyncio.sleep(0)
                assert False
        """
    )
    suite.runpytest_subprocess().assert_outcomes(passed=1, failed=1)


def test_an_async_test_can_be_given_examples(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        from hypothesis import given, settings, strategies as st

        @settings(database=None)
        @given(n=st.integers())
        async def test_passes(n):
            assert n == n

        @settings(database=None)
        @given(n=st.integers())
        async def test_fails(n):
            assert n < 100
        """
    )
    suite.runpytest_subprocess().assert_outcomes(passed=1, failed=1)


def test_a_task_left_behind_fails_the_test(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import asyncio

        async def test_leaves_a_task():
            global task
            task = asyncio.create_task(asyncio.Event().wait())
        """
    )
    result = suite.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the test left tasks running*"])


SKIPS = """
    import pytest

    def test_skips():
        pytest.skip("no such engine here")

    @pytest.mark.skip(reason="later")
    def test_is_marked():
        pass

    @pytest.mark.xfail(reason="known", strict=True)
    def test_is_expected_to_fail():
        assert False
"""


def test_a_skip_is_a_skip_outside_ci(suite: pytest.Pytester) -> None:
    suite.makepyfile(SKIPS)
    suite.runpytest_subprocess().assert_outcomes(skipped=2, xfailed=1)


def test_a_skip_in_ci_fails_with_its_reason(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    suite.makepyfile(SKIPS)
    result = suite.runpytest_subprocess()
    assert result.parseoutcomes() == {"failed": 1, "errors": 1, "xfailed": 1}
    result.stdout.fnmatch_lines(["*counts as a failure: Skipped: no such engine here", "*failure: Skipped: later"])


def test_a_skipped_module_fails_in_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    suite.makepyfile("import pytest; pytest.skip('not on this system', allow_module_level=True)")
    result = suite.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*counts as a failure: Skipped: not on this system"])
