"""How tests run here: coroutine tests on a fresh event loop each, and no silent skips in CI.

A test may be `async def`, also under hypothesis' `@given`. Fixtures are plain functions: what has an async
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

# No verdict depends on the machine's pace: hypothesis limits the time of an example, and of drawing one, otherwise.
settings.register_profile("covey", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("covey")

# What the processes that contracts start need is imported once, and not by each anew.
set_forkserver_preload(
    [
        "covey.testing.worker",
        "tests.contracts.files_space",
        "tests.contracts.nats_space",
        "tests.contracts.one_machine",
        "tests.contracts.sqlite_space",
        "tests.nats.spaces",
    ]
)

# Where the tests run in the background, a shell lets them ignore Ctrl-C, and what they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONG = (
    "tests/properties/test_twin_spaces.py",
    "tests/acceptance/test_wheel.py",
    "tests/acceptance/test_nats_faults.py",
    "tests/properties/test_transfer_stories.py",
    "tests/attention/test_hostile_bodies.py",
    "tests/surfaces/test_transfer_kills.py",
    "tests/surfaces/test_operate_kills.py",
    "tests/scenarios/test_files_kills.py",
)
"""Files that take much longer than others with as many tests."""


MEMORY = "/dev/shm"
ROOM = 8 << 30
"""How much of it has to be free: several times what a run needs."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let the folders of tests be in memory where there is plenty, which saves a third of their time. What is killed in
    them can't tell; `make chaos` stays on the disk. With --basetemp they are elsewhere, and stay."""
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
    """Begin with what takes long, so that all workers are busy until nearly the end."""
    counts = Counter(_file(item) for item in items)
    items.sort(key=lambda item: (_file(item) not in LONG, -counts[_file(item)]))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


async def _no_items() -> AsyncGenerator[None]:
    return
    yield


CLOSING = type(_no_items().aclose())
"""What the event loop runs for an async generator that the garbage collector found: nobody's task left behind."""

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
    """Under CI=true a skip is a failure: what is never run there is never run."""
    if report.skipped and os.environ.get("CI") == "true":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, which counts as a failure: {reason}"
