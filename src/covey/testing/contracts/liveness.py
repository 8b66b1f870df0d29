"""Contract of liveness."""

import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, contextmanager
from typing import NamedTuple

import pytest

from covey.core.directory.session import Holder
from covey.testing.opening import OpenLiveness


class StartedProcess(NamedTuple):
    pid: int
    end: Callable[[], None]
    """Kill the process, and return when it is gone."""


StartProcess = Callable[[], StartedProcess]


@contextmanager
def real_process() -> Generator[StartedProcess]:
    """Start a process that runs until it is ended."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:

        def end() -> None:
            process.kill()
            process.wait(10)

        try:
            yield StartedProcess(process.pid, end)
        finally:
            end()


class LivenessContract:
    """Fixture: `open_liveness`; each call stands for another process of the same machine and space."""

    @pytest.fixture
    def start_process(self) -> Generator[StartProcess]:
        """Yield a function that starts a real process. An adapter without real processes overrides this fixture."""
        with ExitStack() as stack:
            yield lambda: stack.enter_context(real_process())

    def test_what_a_process_holds_is_the_same_each_time(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as liveness:
            assert liveness.hold() == liveness.hold()

    def test_what_is_held_is_seen_by_all(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as mine, closing(open_liveness()) as others:
            assert mine.is_held(mine.hold())
            assert others.is_held(mine.hold())

    def test_two_processes_hold_different_things(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as one, closing(open_liveness()) as two:
            assert one.hold() != two.hold()
            assert one.is_held(two.hold())

    def test_asking_does_not_take_what_is_asked_about(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as mine, closing(open_liveness()) as others:
            holder = mine.hold()
            assert [others.is_held(holder) for _ in range(3)] == [True] * 3
            mine.close()
            assert [others.is_held(holder) for _ in range(3)] == [False] * 3

    def test_closing_lets_go(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as mine, closing(open_liveness()) as others:
            kept, left = others.hold(), mine.hold()
            mine.close()
            assert not others.is_held(left)
            assert others.is_held(kept)

    def test_closing_twice_or_without_holding_is_no_failure(self, open_liveness: OpenLiveness) -> None:
        liveness = open_liveness()
        liveness.close()
        liveness.close()

    @pytest.mark.parametrize("holder", [Holder(), Holder(lock="no-such-lock"), Holder(pid=1, started="never")])
    def test_what_nobody_holds_is_not_held(self, open_liveness: OpenLiveness, holder: Holder) -> None:
        with closing(open_liveness()) as liveness:
            assert not liveness.is_held(holder)

    def test_a_running_process_is_held(self, open_liveness: OpenLiveness, start_process: StartProcess) -> None:
        process = start_process()
        with closing(open_liveness()) as one, closing(open_liveness()) as two:
            holder = one.process(process.pid)
            assert holder is not None
            assert holder.pid == process.pid
            assert holder == two.process(process.pid)
            assert two.is_held(holder)

    def test_a_process_that_is_gone_is_not_held(self, open_liveness: OpenLiveness, start_process: StartProcess) -> None:
        process = start_process()
        with closing(open_liveness()) as liveness:
            holder = liveness.process(process.pid)
            assert holder is not None
            process.end()
            assert not liveness.is_held(holder)
            assert liveness.process(process.pid) is None

    def test_another_process_with_the_same_id_is_not_the_same(
        self, open_liveness: OpenLiveness, start_process: StartProcess
    ) -> None:
        process = start_process()
        with closing(open_liveness()) as liveness:
            holder = liveness.process(process.pid)
            assert holder is not None
            assert not liveness.is_held(holder._replace(started=f"{holder.started}0"))

    def test_the_processes_that_one_descends_from_are_held(self, open_liveness: OpenLiveness) -> None:
        with closing(open_liveness()) as one, closing(open_liveness()) as two:
            holders = [ancestor.holder for ancestor in one.ancestors()]
            assert all(two.is_held(holder) for holder in holders)
            assert len(set(holders)) == len(holders)

    @pytest.mark.parametrize("pid", [0, -1, 2**31 - 1, 10**12])
    def test_there_is_no_process_of_such_an_id(self, open_liveness: OpenLiveness, pid: int) -> None:
        with closing(open_liveness()) as liveness:
            assert liveness.process(pid) is None
            assert not liveness.is_held(Holder(pid=pid, started="1"))
