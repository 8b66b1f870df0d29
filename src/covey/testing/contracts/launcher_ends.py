"""Contract of launchers: the end of runs, without processes left behind."""

import asyncio
import signal
from pathlib import Path

import pytest

from covey.core.errors import Invalid, LauncherUnavailable
from covey.ports.launcher import EndReason
from covey.testing.contracts.launcher import first_line
from covey.testing.factories import OpenLauncher
from covey.testing.programs import a_program, a_script, becomes, is_there, processes

STUBBORN = "trap '' TERM; echo ready; while :; do sleep 1000; done"
"""A script that ignores SIGTERM. The signal ends the sleep, and the loop starts a new one."""


class LauncherEndsContract:
    """Fixture: `open_launcher`."""

    async def test_a_stop_tells_it_to_terminate(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        script = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
        async with open_launcher() as launcher:
            running = await launcher.start(a_script(tmp_path, script))
            assert await first_line(running) == "ready"
            ended = await running.stop("no longer wanted")
            assert await running.stop("again") == await running.wait() == ended
        assert (ended.ending, ended.exit_code, ended.why) == (EndReason.STOPPED, 3, "no longer wanted")
        assert ended.stdout.text == "ready\nbye\n"
        assert not ended.is_success

    async def test_what_does_not_terminate_is_killed_after_the_grace(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        program = a_script(tmp_path, STUBBORN, grace=0.2)
        async with open_launcher() as launcher:
            running = await launcher.start(program)
            assert await first_line(running) == "ready"
            ended = await running.stop()
            assert processes(program.run) == []
        assert (ended.ending, ended.exit_code, ended.signal) == (EndReason.STOPPED, None, signal.SIGKILL)
        assert (ended.ended_at - ended.started_at).total_seconds() >= 0.2

    async def test_a_stop_reaches_what_the_program_started_and_waits_for_it(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        # The program itself has no handler and ends at once, while its child still has the grace period.
        script = "trap 'sleep 0.1; echo cleaned; exit' TERM; echo ready; while :; do sleep 0.01; done"
        async with open_launcher() as launcher:
            running = await launcher.start(a_script(tmp_path, f'sh -c "{script}" & wait'))
            assert await first_line(running) == "ready"
            ended = await running.stop()
        assert (ended.signal, ended.stdout.text) == (signal.SIGTERM, "ready\ncleaned\n")

    async def test_a_stop_that_is_cancelled_is_not_taken_back(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        async with open_launcher() as launcher:
            running = await launcher.start(a_script(tmp_path, STUBBORN, grace=0.2))
            assert await first_line(running) == "ready"
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await running.stop()
            assert (await running.wait()).ending is EndReason.STOPPED

    async def test_a_stop_after_the_end_changes_nothing(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        async with open_launcher() as launcher:
            running = await launcher.start(a_program(tmp_path, "true"))
            ended = await running.wait()
            assert await running.stop("too late") == ended
        assert ended.is_success

    async def test_a_program_that_takes_too_long_is_ended(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        polite = a_script(tmp_path, "echo begun; exec sleep 1000")._replace(time_limit=0.3)
        rude = a_script(tmp_path, STUBBORN, grace=0.1)._replace(time_limit=0.3)
        async with open_launcher() as launcher:
            running = [await launcher.start(polite), await launcher.start(rude)]
            soft, hard = [await one.wait() for one in running]
        assert (soft.ending, soft.signal, soft.stdout.text) == (EndReason.TIMED_OUT, signal.SIGTERM, "begun\n")
        assert (hard.ending, hard.signal, hard.stdout.text) == (EndReason.TIMED_OUT, signal.SIGKILL, "ready\n")

    async def test_what_a_program_leaves_running_is_killed(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        program = a_script(tmp_path, "sleep 1000 & echo $!; trap '' HUP; sh -c 'sleep 1000 & echo $!' & wait $!")
        async with open_launcher() as launcher:
            ended = await (await launcher.start(program)).wait()
        assert ended.is_success
        left = [int(pid) for pid in ended.stdout.text.split()]
        assert len(left) == 2
        assert [pid for pid in left if is_there(pid)] == []

    async def test_a_program_may_close_its_outputs_and_run_on(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        async with open_launcher() as launcher:
            ended = await (await launcher.start(a_script(tmp_path, "exec >&- 2>&-; sleep 0.2; exit 5"))).wait()
        assert ended.exit_code == 5
        assert (ended.ended_at - ended.started_at).total_seconds() >= 0.2

    async def test_a_wait_that_is_cancelled_leaves_it_running(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        async with open_launcher() as launcher:
            running = await launcher.start(a_program(tmp_path, "sleep", "1000"))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await running.wait()
            assert is_there(running.pid)
            waiting = [asyncio.create_task(running.wait()) for _ in range(3)]
            ended = await running.stop()
            assert await asyncio.gather(*waiting) == [ended] * 3

    async def test_how_it_ended_can_be_recalled_by_anybody(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        program = a_script(tmp_path, "echo out; echo err >&2; read word; exit 4")
        async with open_launcher() as launcher:
            assert launcher.recall(program.folder) is None
            running = await launcher.start(program)
            assert await first_line(running)
            ended = await running.wait()
        async with open_launcher() as another:
            assert another.recall(program.folder) == ended

    async def test_while_it_runs_there_is_nothing_to_recall(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        program = a_program(tmp_path, "sleep", "1000")
        async with open_launcher() as launcher:
            running = await launcher.start(program)
            assert launcher.recall(program.folder) is None
            ended = await running.stop("enough")
            assert launcher.recall(program.folder) == ended

    async def test_closing_kills_what_still_runs(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        program = a_script(tmp_path, STUBBORN)
        async with open_launcher() as launcher:
            running = await launcher.start(program)
            assert await first_line(running) == "ready"
        ended = await running.wait()
        assert (ended.ending, ended.signal) == (EndReason.ABANDONED, signal.SIGKILL)
        assert processes(program.run) == []
        with pytest.raises(LauncherUnavailable):
            await launcher.start(a_program(tmp_path, "true"))

    async def test_a_sweep_ends_a_run_of_another(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        program = a_script(tmp_path, STUBBORN)
        async with open_launcher() as launcher, open_launcher() as another:
            running = await launcher.start(program)
            assert await first_line(running) == "ready"
            assert await another.sweep(program.run, program.folder) >= 1
            assert not is_there(running.pid)
            recalled = another.recall(program.folder)
            assert recalled is not None
            assert recalled.ending is EndReason.ABANDONED
            assert await running.wait() == recalled
            assert await another.sweep(program.run, program.folder) == 0

    async def test_after_a_sweep_nothing_starts_in_the_folder(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        program = a_program(tmp_path, "true")
        async with open_launcher() as launcher:
            assert await launcher.sweep(program.run, program.folder) == 0
            with pytest.raises(Invalid, match="folder"):
                await launcher.start(program)
            assert launcher.recall(program.folder) is None
            nowhere = str(tmp_path / "no such" / "folder")
            assert await launcher.sweep("never-started", nowhere) == 0

    async def test_a_start_that_is_cancelled_leaves_nothing_running(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        async with open_launcher() as launcher:
            await (await launcher.start(a_program(tmp_path, "true"))).wait()  # warm up what is slow the first time
            for step in range(30):
                program = a_program(tmp_path, "sleep", "1000")
                starting = asyncio.create_task(launcher.start(program))
                for _ in range(step):
                    await asyncio.sleep(0.0002)
                starting.cancel()
                await asyncio.gather(starting, return_exceptions=True)
                if not starting.cancelled():
                    await starting.result().stop()
                assert becomes(lambda run=program.run: processes(run) == [])
