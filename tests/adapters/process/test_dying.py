"""Whichever process dies first, no process of a run is left, and its end can be recalled."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from covey.adapters.process import run as running_module
from covey.adapters.process.launcher import ProcessLauncher
from covey.core.errors import LauncherUnavailable
from covey.ports.launcher import EndReason, Program
from covey.testing import OpenLauncher
from covey.testing.contracts.launcher import first_line
from covey.testing.programs import a_program, a_script, becomes, is_there, processes
from tests.adapters.children import child
from tests.adapters.process.owners import PROGRAM
from tests.adapters.process.seen import beneath, children, guardian_of, house_of, runs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the process group is ended")

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve("/bin/sh", ["daemon", "-c", "echo $$; exec sleep 1000"], {"PATH": os.defpath})
    os._exit(0)
os.wait()
time.sleep(float(sys.argv[1]))
"""
"""A program that leaves its session, its parent and its environment."""

FORKED = """
import os, time
from tests.adapters.process import owners
def forking(*words, **options):
    if words == ("ready",):
        words = (os.fork(),)
        if words == (0,):
            time.sleep(1000)
    print(*words, **options)
owners.print = forking
owners.main()
"""
"""An owner that forks when its program is ready, as programs with multiprocessing do."""


def a_daemon(folder: Path, seconds: str) -> Program:
    return a_program(folder, sys.executable, "-ISc", DAEMON, seconds)


async def test_a_daemon_without_a_mark_ends_with_its_program(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    async with open_launcher() as launcher:
        running = await launcher.start(a_daemon(tmp_path, "0.05"))
        daemon = int(await first_line(running))
        assert (await running.wait()).is_success
        assert not is_there(daemon)


async def test_a_daemon_ends_when_its_run_is_stopped(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    async with open_launcher() as launcher:
        running = await launcher.start(a_daemon(tmp_path, "1000"))
        daemon = int(await first_line(running))
        await running.stop()
        assert not is_there(daemon)


@pytest.mark.parametrize("_time", range(3))
def test_everything_ends_when_the_owner_is_killed(tmp_path: Path, _time: int) -> None:
    program = a_daemon(tmp_path, "1000")
    with child(PROGRAM, program.folder, program.run, *program.argv) as owner:
        pids = [int(owner.line()), int(owner.line())]
        guards = [guardian_of(pids[0]), house_of(pids[0])]
        assert all(is_there(pid) for pid in pids + guards)
        owner.kill()
    assert becomes(lambda: not any(is_there(pid) for pid in pids) and not any(runs(pid) for pid in guards))
    assert processes(program.run) == []
    ended = ProcessLauncher().recall(program.folder)
    assert ended is not None
    assert (ended.ending, ended.signal) == (EndReason.ABANDONED, signal.SIGKILL)
    assert ended.stdout.text.split() == [str(pids[1])]


def test_everything_ends_even_if_a_fork_of_the_owner_lives_on(tmp_path: Path) -> None:
    program = a_program(tmp_path, "sh", "-c", "echo ready; exec sleep 1000")
    with child(FORKED, program.folder, program.run, *program.argv) as owner:
        pid, twin = int(owner.line()), int(owner.line())
        owner.kill()
        try:
            assert becomes(lambda: not is_there(pid))
            assert is_there(twin)
        finally:
            os.kill(twin, signal.SIGKILL)


async def test_a_run_that_ended_before_its_owner_was_killed_is_recalled_after_a_sweep(tmp_path: Path) -> None:
    program = a_program(tmp_path, "sh", "-c", "echo out; exit 6")
    with child(PROGRAM, program.folder, program.run, *program.argv) as owner:
        assert [owner.line() for _ in range(3)][1:] == ["out", "ended"]
        owner.kill()
    launcher = ProcessLauncher()
    assert await launcher.sweep(program.run, program.folder) == 0
    ended = launcher.recall(program.folder)
    assert ended is not None
    assert (ended.ending, ended.exit_code, ended.stdout.text) == (EndReason.EXITED, 6, "out\n")


async def test_a_sweep_right_after_the_owner_was_killed_leaves_nothing(tmp_path: Path) -> None:
    program = a_program(tmp_path, "sh", "-c", "echo ready; exec sleep 1000")
    with child(PROGRAM, program.folder, program.run, *program.argv) as owner:
        pid = int(owner.line())
        assert owner.line() == "ready"
        owner.kill()
    launcher = ProcessLauncher()
    await launcher.sweep(program.run, program.folder)
    assert not is_there(pid)
    ended = launcher.recall(program.folder)
    assert ended is not None
    assert ended.ending is EndReason.ABANDONED


async def test_a_run_is_lost_and_ended_when_its_guardian_is_killed(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    program = a_daemon(tmp_path, "1000")
    async with open_launcher() as launcher:
        running = await launcher.start(program)
        daemon = int(await first_line(running))
        os.kill(guardian_of(running.pid), signal.SIGKILL)
        ended = await running.wait()
        assert (ended.ending, ended.exit_code, ended.signal) == (EndReason.LOST, None, None)
        assert ended.stdout.text.split() == [str(daemon)]
        assert launcher.recall(program.folder) == ended
        assert becomes(lambda: not is_there(daemon) and not is_there(running.pid))
        assert (await (await launcher.start(a_program(tmp_path, "true"))).wait()).is_success


async def test_runs_continue_when_the_house_is_killed_and_new_runs_get_a_new_house(
    open_launcher: OpenLauncher, tmp_path: Path
) -> None:
    async with open_launcher() as launcher:
        running = await launcher.start(a_script(tmp_path, "echo ready; exec sleep 1000"))
        house = house_of(running.pid)
        os.kill(house, signal.SIGKILL)
        another = await launcher.start(a_script(tmp_path, "echo ready; exec sleep 1000"))
        assert house_of(another.pid) != house
        assert becomes(lambda: not is_there(house))
        assert [await first_line(one) for one in (running, another)] == ["ready", "ready"]
        assert (await running.stop()).signal == signal.SIGTERM


async def test_a_killed_house_leaves_no_zombie_and_no_waiting_guardian(
    open_launcher: OpenLauncher, tmp_path: Path
) -> None:
    async with open_launcher() as launcher:
        await (await launcher.start(a_program(tmp_path, "true"))).wait()
        (house,) = children(os.getpid())
        assert becomes(lambda: len(beneath(house)) == 2)  # the standby guardian, and the process for its program
        waiting = beneath(house)
        os.kill(house, signal.SIGKILL)
        assert await asyncio.to_thread(becomes, lambda: not is_there(house))
        assert becomes(lambda: not any(runs(pid) for pid in waiting))
        assert (await (await launcher.start(a_program(tmp_path, "true"))).wait()).is_success


async def test_a_standby_guardian_that_was_killed_is_replaced(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    async with open_launcher() as launcher:
        await (await launcher.start(a_program(tmp_path, "true"))).wait()
        (house,) = children(os.getpid())
        for rank in range(2):  # first the guardian, then the process that would become the program
            assert becomes(lambda: len(beneath(house)) == 2)
            os.kill(beneath(house)[rank], signal.SIGKILL)
            try:
                running = await launcher.start(a_program(tmp_path, "true"))
            except LauncherUnavailable:
                running = await launcher.start(a_program(tmp_path, "true"))
            await running.wait()


async def test_a_house_that_hangs_is_reported(
    open_launcher: OpenLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_launcher() as launcher:
        await (await launcher.start(a_program(tmp_path, "true"))).wait()
        (house,) = children(os.getpid())
        assert becomes(lambda: len(beneath(house)) == 2)
        guards = [house, beneath(house)[0]]
        for pid in guards:
            os.kill(pid, signal.SIGSTOP)
        monkeypatch.setattr(running_module, "START_S", 0.1)
        try:
            with pytest.raises(LauncherUnavailable, match="hangs"):
                await launcher.start(a_program(tmp_path, "true"))
        finally:
            for pid in guards:
                os.kill(pid, signal.SIGCONT)


async def test_no_process_is_left_when_all_guards_are_killed_at_once(
    open_launcher: OpenLauncher, tmp_path: Path
) -> None:
    # The background process is not a guardian's child, so the kernel does not end it. The run's mark identifies it.
    program = a_script(tmp_path, "setsid sleep 1000 & echo ready; exec sleep 1000")
    async with open_launcher() as launcher:
        running = await launcher.start(program)
        assert await first_line(running) == "ready"
        assert becomes(lambda: len(processes(program.run)) == 2)
        for pid in (house_of(running.pid), guardian_of(running.pid)):
            os.kill(pid, signal.SIGKILL)
        assert (await running.wait()).ending is EndReason.LOST
        assert processes(program.run) == []


async def test_a_run_can_be_stopped_even_if_its_guardian_hangs(
    open_launcher: OpenLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_module, "STOP_S", 0.1)
    async with open_launcher() as launcher:
        running = await launcher.start(a_program(tmp_path, "sleep", "1000", grace=0.0))
        os.kill(guardian_of(running.pid), signal.SIGSTOP)
        assert (await running.stop()).ending is EndReason.LOST
        assert becomes(lambda: not is_there(running.pid))


async def test_the_guard_ignores_signals_that_are_meant_for_the_owner(
    open_launcher: OpenLauncher, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "gate")
    async with open_launcher() as launcher:
        running = await launcher.start(a_script(tmp_path, "echo ready; read word < gate"))
        assert await first_line(running) == "ready"
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for pid in beneath(os.getpid()):
                if pid != running.pid:
                    os.kill(pid, number)
        (tmp_path / "gate").write_text("word\n", encoding="utf-8")
        assert (await running.wait()).is_success


async def test_many_runs_with_killed_guardians_leave_no_processes(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    programs = [a_script(tmp_path, "sleep 1000 & echo ready; wait", grace=0.1) for _ in range(10)]
    async with open_launcher() as launcher:
        running = await asyncio.gather(*map(launcher.start, programs))
        for one in running[::2]:
            os.kill(guardian_of(one.pid), signal.SIGKILL)
        ended = await asyncio.gather(*(one.wait() if n % 2 == 0 else one.stop() for n, one in enumerate(running)))
        assert [one.ending for one in ended] == [EndReason.LOST, EndReason.STOPPED] * 5
        assert becomes(lambda: not any(processes(program.run) for program in programs))
