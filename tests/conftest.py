"""Configuration of the test run: each coroutine test gets a fresh event loop, and CI allows no silent skips.

A test may be `async def`, also under hypothesis' `@given`. Fixtures are plain functions: a resource with an async
lifetime is opened by the test itself, with `async with`.
"""

import asyncio
import functools
import inspect
import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from multiprocessing import set_forkserver_preload
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Results must not depend on the speed of the machine. By default, hypothesis limits the time of an example and of
# drawing one.
settings.register_profile("covey", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("covey")

# The fork server imports these modules once. Otherwise each process that the contracts start would import them.
set_forkserver_preload(
    [
        "covey.testing.workers",
        "tests.contracts.files_space",
        "tests.contracts.nats_space",
        "tests.contracts.one_machine",
        "tests.contracts.sqlite_space",
        "tests.nats.spaces",
    ]
)

# A shell makes background jobs ignore Ctrl-C, and the processes that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONG = (
    "tests/properties/test_twin_spaces.py",
    "tests/acceptance/test_wheel.py",
    "tests/acceptance/test_nats_faults.py",
    "tests/properties/test_transfer_stories.py",
    "tests/attention/test_hostile_bodies.py",
    "tests/surfaces/cli/operation/test_transfer_kills.py",
    "tests/surfaces/cli/operation/test_backup_kills.py",
    "tests/scenarios/test_files_kills.py",
)
"""Files that take much longer than other files with as many tests."""


MEMORY = "/dev/shm"
ROOM = 8 << 30
"""Free bytes that the folder must have: several times the need of a run."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put the temporary folders of tests into memory if enough is free, which saves a third of their time.

    Killed processes behave alike in both places. `make chaos` stays on the disk, and --basetemp is respected.
    """
    if config.option.basetemp is None and config.option.markexpr != "chaos" and has_room():
        config.option.basetemp = folder = tempfile.mkdtemp(prefix="covey-tests-", dir=MEMORY)
        config.add_cleanup(functools.partial(shutil.rmtree, folder, ignore_errors=True))


def has_room() -> bool:
    try:
        status = os.statvfs(MEMORY)
    except OSError:
        return False
    return os.access(MEMORY, os.W_OK) and status.f_bavail * status.f_frsize >= ROOM


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run long files first, so that all workers are busy until nearly the end."""
    counts = Counter(_file(item) for item in items)
    items.sort(key=lambda item: (_file(item) not in LONG, -counts[_file(item)]))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


async def _no_items() -> AsyncGenerator[None]:
    return
    yield


CLOSING = type(_no_items().aclose())
"""Type of the coroutine by which the event loop closes a garbage-collected async generator. No test left it behind."""

CoroutineTest = Callable[..., Coroutine[Any, Any, None]]


def on_a_fresh_loop(test: CoroutineTest) -> Callable[..., None]:
    """Return `test` as a plain function that also fails when the test leaves a task behind."""

    async def run(*args: Any, **kwargs: Any) -> None:
        await test(*args, **kwargs)
        orphans = asyncio.all_tasks() - {asyncio.current_task()}
        collected = {task for task in orphans if isinstance(task.get_coro(), CLOSING)}
        await asyncio.gather(*collected)
        orphans -= collected
        assert not orphans, f"the test left tasks running: {orphans}"

    @functools.wraps(test)
    def plain(*args: Any, **kwargs: Any) -> None:
        asyncio.run(run(*args, **kwargs))

    return plain


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Make a coroutine test a plain one; pytest's own hook then calls it."""
    test = pyfuncitem.obj
    if inspect.iscoroutinefunction(test):
        pyfuncitem.obj = on_a_fresh_loop(test)
    given = getattr(test, "hypothesis", None)
    if given is not None and inspect.iscoroutinefunction(given.inner_test):
        given.inner_test = on_a_fresh_loop(given.inner_test)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not hasattr(report, "wasxfail"):
        fail_if_skipped_in_ci(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    fail_if_skipped_in_ci(report)
    return report


def fail_if_skipped_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure under CI=true, because a test that CI skips is never run."""
    if report.skipped and os.environ.get("CI") == "true":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, which counts as a failure: {reason}"
