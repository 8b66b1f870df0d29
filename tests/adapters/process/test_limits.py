"""Floods, leaks and crowds: a launcher protects its owner from the programs that it runs."""

import asyncio
import os
import signal
import time
from pathlib import Path

from covey.core.errors import LauncherUnavailable
from covey.ports.launcher import EndReason, KeptOutput
from covey.testing import OpenLauncher
from covey.testing.contracts.launcher import first_line
from covey.testing.programs import SOON_S, a_program, a_script, becomes, is_there, processes
from tests.adapters.process.seen import guardian_of, open_resources

FLOOD = 100_000_000


def bytes_read() -> int:
    """Return the number of bytes that this process has read since it began, from any source."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["rchar"])


async def test_a_flood_is_counted_and_cut_and_its_owner_does_not_read_it(
    open_launcher: OpenLauncher, tmp_path: Path
) -> None:
    program = a_script(tmp_path, f"yes 'all work and no play' | head -c {FLOOD}; echo; echo end")
    async with open_launcher() as launcher:
        running = await launcher.start(program)
        before = bytes_read()
        ended = await running.wait()
        read = bytes_read() - before
    assert ended.is_success
    assert ended.stdout.total == FLOOD + 5
    assert len(ended.stdout.head) == len(ended.stdout.tail) == 512 * 1024
    assert ended.stdout.tail.endswith(b"\nend\n")
    assert read < FLOOD / 10, "who owns it reads the flood itself"
    assert sum(path.stat().st_size for path in Path(program.folder).iterdir()) < 1_100_000


async def test_an_endless_flood_that_is_not_read_can_be_stopped(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    async with open_launcher() as launcher:
        running = await launcher.start(a_program(tmp_path, "yes"))
        assert await first_line(running) == "y"
        ended = await running.stop()
    assert (ended.ending, ended.signal) == (EndReason.STOPPED, signal.SIGTERM)
    assert ended.stdout.left_out >= 0


async def test_an_owner_with_a_blocked_event_loop_holds_up_nothing(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    program = a_script(tmp_path, "head -c 20000000 /dev/zero | tr '\\0' '\\n'; echo last > last")
    async with open_launcher() as launcher:
        running = await launcher.start(program)
        until = time.monotonic() + SOON_S
        while not (tmp_path / "last").exists() and time.monotonic() < until:
            time.sleep(0.01)  # the event loop stands still, as in a program that computes
        assert (tmp_path / "last").exists()
        assert (await running.wait()).stdout.total == 20_000_000


async def test_lines_that_fit_into_the_window_all_arrive(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    async with open_launcher() as launcher:
        running = await launcher.start(a_program(tmp_path, "seq", "20000"))
        assert [line.text async for line in running.lines()] == [str(number) for number in range(1, 20001)]


async def test_nothing_is_left_open_in_the_owner(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    before = open_resources()
    async with open_launcher() as launcher:
        for _ in range(3):
            await (await launcher.start(a_program(tmp_path, "true"))).wait()
        during = open_resources()
        for _ in range(20):
            await (await launcher.start(a_program(tmp_path, "true", stdin=b"x"))).wait()
        async with asyncio.timeout(SOON_S):
            while open_resources() > during:  # noqa: ASYNC110 - descriptors are closed a moment after the end is reported
                await asyncio.sleep(0.01)
        assert len(during[2]) == len(before[2]) + 1  # the house
    assert open_resources() == before


async def test_a_program_has_only_its_own_descriptors(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(5)]
    async with open_launcher() as launcher:
        alongside = await launcher.start(a_program(tmp_path, "sleep", "1000"))
        ended = await (await launcher.start(a_program(tmp_path, "ls", "-l", "/proc/self/fd"))).wait()
        await alongside.stop()
    for descriptor in held:
        os.close(descriptor)
    entries = [line.split()[8:] for line in ended.stdout.text.splitlines()[1:]]
    assert [number for number, _, target in entries if not target.startswith("/proc/")] == ["0", "1", "2"]


async def test_a_program_starts_with_default_signal_handling(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    async with open_launcher() as launcher:
        ended = await (await launcher.start(a_program(tmp_path, "cat", "/proc/self/status"))).wait()
    masks = dict(line.split(":\t", 1) for line in ended.stdout.text.splitlines())
    own = 0b11 << 31  # used by the C library: signals 32 and 33, which no program sets
    assert {int(masks[name], 16) & ~own for name in ("SigBlk", "SigIgn", "SigCgt")} == {0}


async def test_many_programs_that_fork_are_all_ended_at_once(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    script = "for n in 1 2 3; do (trap '' TERM; sleep 1000; sleep 1000) & done; echo ready; wait"
    programs = [a_script(tmp_path, script, grace=0.1) for _ in range(20)]
    async with open_launcher() as launcher:
        running = await asyncio.gather(*map(launcher.start, programs))
        assert [await first_line(one) for one in running] == ["ready"] * 20
        ended = await asyncio.gather(*(one.stop("enough") for one in running))
        assert not any(processes(program.run) for program in programs)
    assert {one.ending for one in ended} == {EndReason.STOPPED}


async def test_closing_while_starting_leaves_no_processes(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    programs = [a_program(tmp_path, "sleep", "1000") for _ in range(10)]
    async with open_launcher() as launcher:
        starting = [asyncio.create_task(launcher.start(program)) for program in programs]
        await asyncio.sleep(0.002)
    results = await asyncio.gather(*starting, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            assert isinstance(result, LauncherUnavailable)
        else:
            assert (await result.wait()).ending is EndReason.ABANDONED
    assert becomes(lambda: not any(processes(program.run) for program in programs))


async def test_a_full_disk_loses_output_and_not_the_outcome(open_launcher: OpenLauncher, tmp_path: Path) -> None:
    # A limit on the size of files has the same effect on the guardian as a full disk.
    import resource

    async with open_launcher() as launcher:
        os.mkfifo(tmp_path / "go")
        running = await launcher.start(a_script(tmp_path, "read go < go; seq 100000; exit 3"))
        guardian = guardian_of(running.pid)
        resource.prlimit(guardian, resource.RLIMIT_FSIZE, (4096, 4096))
        await asyncio.to_thread((tmp_path / "go").write_bytes, b"go\n")
        ended = await running.wait()
    assert ended.exit_code == 3
    assert ended.stdout.total == 588895
    assert isinstance(ended.stdout, KeptOutput)
    assert ended.stdout.left_out > 0
    assert not is_there(guardian)
