"""Contract of launchers: running programs and their output."""

import asyncio
import os
import signal
from datetime import UTC, datetime
from pathlib import Path

from covey.ports.launcher import LINE_LIMIT, RUN_VARIABLE, Ending, Kept, Launcher, Line, Program, Running
from covey.testing.opening import OpenLauncher
from covey.testing.programs import SOON_S, a_program, a_script


async def run(launcher: Launcher, program: Program) -> tuple[list[Line], Kept, Kept]:
    """Run a program to its end. Return its lines, and the kept part of its stdout and stderr."""
    running = await launcher.start(program)
    lines = [line async for line in running.lines()]
    ended = await running.wait()
    return lines, ended.stdout, ended.stderr


async def first_line(running: Running) -> str:
    """Wait for a program's next line, and return its text."""
    async with asyncio.timeout(SOON_S):
        return (await anext(aiter(running.lines()))).text


class LauncherContract:
    """Fixture: `open_launcher`."""

    async def test_a_program_runs_and_its_end_is_told(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        before = datetime.now(UTC)
        async with open_launcher() as launcher:
            ended = await (await launcher.start(a_script(tmp_path, "echo done"))).wait()
        assert ended.is_success
        assert (ended.ending, ended.exit_code, ended.signal) == (Ending.EXITED, 0, None)
        assert (ended.stdout, ended.stderr) == (Kept(b"done\n", b"", 5), Kept(b"", b"", 0))
        assert (ended.why, ended.survivors) == ("", ())
        assert before <= ended.started_at <= ended.ended_at <= datetime.now(UTC)

    async def test_an_exit_code_is_told(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        async with open_launcher() as launcher:
            ended = await (await launcher.start(a_script(tmp_path, "exit 7"))).wait()
        assert (ended.ending, ended.exit_code, ended.signal, ended.is_success) == (Ending.EXITED, 7, None, False)

    async def test_a_signal_that_ended_it_is_told(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        async with open_launcher() as launcher:
            ended = await (await launcher.start(a_script(tmp_path, "kill -SEGV $$"))).wait()
        assert (ended.ending, ended.exit_code, ended.signal) == (Ending.EXITED, None, signal.SIGSEGV)

    async def test_it_can_read_what_it_is_given(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        given = bytes(range(256)) * 4096
        async with open_launcher() as launcher:
            _, out, _ = await run(launcher, a_program(tmp_path, "cat", stdin=given))
            _, nothing, _ = await run(launcher, a_program(tmp_path, "cat"))
        assert out.head + out.tail == given
        assert nothing.total == 0

    async def test_input_that_it_does_not_read_is_no_trouble(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        async with open_launcher() as launcher:
            ended = await (await launcher.start(a_program(tmp_path, "true", stdin=b"x" * 1_000_000))).wait()
        assert ended.is_success

    async def test_the_environment_is_the_one_given_and_the_run(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        program = a_program(tmp_path, "env")
        program = program._replace(env={"PATH": program.env["PATH"], "WORD": "zwölf = 12", "EMPTY": ""})
        async with open_launcher() as launcher:
            lines, _, _ = await run(launcher, program)
        expected = {**program.env, RUN_VARIABLE: program.run}
        assert {line.text for line in lines} == {f"{name}={value}" for name, value in expected.items()}

    async def test_it_starts_in_its_folder_and_finds_commands_from_there(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        place = tmp_path / "näh bei"
        place.mkdir()
        (place / "tool").write_text("#!/bin/sh\npwd\n", encoding="utf-8")
        (place / "tool").chmod(0o700)
        async with open_launcher() as launcher:
            lines, _, _ = await run(launcher, a_program(tmp_path, "./tool")._replace(cwd=str(place)))
        assert lines == [Line("stdout", str(place))]

    async def test_it_has_a_session_of_its_own(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        async with open_launcher() as launcher:
            running = await launcher.start(a_program(tmp_path, "sleep", "1000"))
            assert os.getsid(running.pid) == os.getpgid(running.pid) == running.pid
            await running.stop()

    async def test_lines_come_as_they_are_printed(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "gate")
        async with open_launcher() as launcher:
            running = await launcher.start(a_script(tmp_path, "echo one; cat gate; echo two >&2"))
            assert await first_line(running) == "one"
            (tmp_path / "gate").write_text("", encoding="utf-8")
            assert [line async for line in running.lines()] == [Line("stderr", "two")]
            assert (await running.wait()).is_success

    async def test_lines_are_bounded_and_bytes_that_are_no_text_replaced(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        long = "ä" * LINE_LIMIT
        async with open_launcher() as launcher:
            lines, out, _ = await run(
                launcher, a_program(tmp_path, "cat", stdin=b"a\xff\0b\r\n\n" + long.encode() + b"\nno end")
            )
        texts = [line.text for line in lines]
        assert texts[:2] == ["a�\0b", ""]
        assert "".join(texts[2:-1]) == long
        assert all(len(text.encode()) <= LINE_LIMIT for text in texts)
        assert texts[-1] == "no end"
        assert out.text == f"a�\0b\r\n\n{long}\nno end"

    async def test_of_a_long_output_the_beginning_and_the_end_are_kept_and_all_is_counted(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        program = a_script(tmp_path, "seq 200000; echo short >&2")._replace(output_limit=101)
        async with open_launcher() as launcher:
            _, out, err = await run(launcher, program)
        whole = "".join(f"{number}\n" for number in range(1, 200001)).encode()
        assert out == Kept(whole[:51], whole[-50:], len(whole))
        assert out.left_out == len(whole) - 101
        assert f"[... {out.left_out} bytes left out ...]" in out.text
        assert err == Kept(b"short\n", b"", 6)

    async def test_of_an_output_up_to_the_limit_all_is_kept(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        async with open_launcher() as launcher:
            _, fits, _ = await run(launcher, a_program(tmp_path, "echo", "123456789")._replace(output_limit=10))
            _, none, _ = await run(launcher, a_program(tmp_path, "echo", "123456789")._replace(output_limit=0))
        assert (fits.head + fits.tail, fits.left_out, fits.text) == (b"123456789\n", 0, "123456789\n")
        assert none == Kept(b"", b"", 10)

    async def test_many_run_at_once(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        programs = [a_script(tmp_path, f"echo {number}; exit {number}") for number in range(20)]
        async with open_launcher() as launcher:
            running = await asyncio.gather(*map(launcher.start, programs))
            ended = await asyncio.gather(*(one.wait() for one in running))
        assert [one.exit_code for one in ended] == [*range(20)]
        assert [one.stdout.text for one in ended] == [f"{number}\n" for number in range(20)]
