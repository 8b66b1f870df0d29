"""Contracts of launchers: running programs and their output, and programs that can't be started."""

import asyncio
import math
import os
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from covey.core.errors import Invalid, ProgramNotExecutable, ProgramNotFound
from covey.ports.launcher import (
    LINE_LIMIT,
    RUN_VARIABLE,
    EndReason,
    KeptOutput,
    Launcher,
    OutputLine,
    Program,
    StartedProgram,
)
from covey.testing.factories import OpenLauncher
from covey.testing.programs import SOON_S, a_program, a_script


async def run(launcher: Launcher, program: Program) -> tuple[list[OutputLine], KeptOutput, KeptOutput]:
    """Run a program to its end. Return its lines, and the kept part of its stdout and stderr."""
    running = await launcher.start(program)
    lines = [line async for line in running.lines()]
    ended = await running.wait()
    return lines, ended.stdout, ended.stderr


async def first_line(running: StartedProgram) -> str:
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
        assert (ended.ending, ended.exit_code, ended.signal) == (EndReason.EXITED, 0, None)
        assert (ended.stdout, ended.stderr) == (KeptOutput(b"done\n", b"", 5), KeptOutput(b"", b"", 0))
        assert (ended.why, ended.survivors) == ("", ())
        assert before <= ended.started_at <= ended.ended_at <= datetime.now(UTC)

    async def test_an_exit_code_is_told(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        async with open_launcher() as launcher:
            ended = await (await launcher.start(a_script(tmp_path, "exit 7"))).wait()
        assert (ended.ending, ended.exit_code, ended.signal, ended.is_success) == (EndReason.EXITED, 7, None, False)

    async def test_a_signal_that_ended_it_is_told(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        async with open_launcher() as launcher:
            ended = await (await launcher.start(a_script(tmp_path, "kill -SEGV $$"))).wait()
        assert (ended.ending, ended.exit_code, ended.signal) == (EndReason.EXITED, None, signal.SIGSEGV)

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
        assert lines == [OutputLine("stdout", str(place))]

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
            assert [line async for line in running.lines()] == [OutputLine("stderr", "two")]
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
        assert out == KeptOutput(whole[:51], whole[-50:], len(whole))
        assert out.left_out == len(whole) - 101
        assert f"[... {out.left_out} bytes left out ...]" in out.text
        assert err == KeptOutput(b"short\n", b"", 6)

    async def test_of_an_output_up_to_the_limit_all_is_kept(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        async with open_launcher() as launcher:
            _, fits, _ = await run(launcher, a_program(tmp_path, "echo", "123456789")._replace(output_limit=10))
            _, none, _ = await run(launcher, a_program(tmp_path, "echo", "123456789")._replace(output_limit=0))
        assert (fits.head + fits.tail, fits.left_out, fits.text) == (b"123456789\n", 0, "123456789\n")
        assert none == KeptOutput(b"", b"", 10)

    async def test_many_run_at_once(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        programs = [a_script(tmp_path, f"echo {number}; exit {number}") for number in range(20)]
        async with open_launcher() as launcher:
            running = await asyncio.gather(*map(launcher.start, programs))
            ended = await asyncio.gather(*(one.wait() for one in running))
        assert [one.exit_code for one in ended] == [*range(20)]
        assert [one.stdout.text for one in ended] == [f"{number}\n" for number in range(20)]


def content(folder: str | Path) -> list[str] | None:
    """Return the names of the entries of a folder, or None if there is no folder."""
    place = Path(folder)
    return [path.name for path in place.iterdir()] if place.exists() else None


def a_file(path: Path, text: str, mode: int) -> str:
    """Write a file, and return its path."""
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return str(path)


class LauncherRefusalsContract:
    """Fixture: `open_launcher`."""

    async def test_a_command_that_does_not_exist_is_not_found(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        async with open_launcher() as launcher:
            for command in ("no-such-command", "./no-such-command", str(tmp_path / "none" / "such")):
                program = a_program(tmp_path, command, "argument")
                with pytest.raises(ProgramNotFound, match="no program"):
                    await launcher.start(program)
                assert content(program.folder) is None

    async def test_what_can_not_be_run_is_refused_with_the_reason(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        for command, reason in (
            (a_file(tmp_path / "plain", "echo ran > ran\n", 0o600), "ermission"),
            (a_file(tmp_path / "shebangless", "echo ran > ran\n", 0o700), "ormat"),
            (a_file(tmp_path / "strange", "#!/no/such/interpreter\n", 0o700), "interpreter"),
            (str(tmp_path), "ermission"),
        ):
            async with open_launcher() as launcher:
                with pytest.raises(ProgramNotExecutable, match=reason):
                    await launcher.start(a_program(tmp_path, command))
        assert not (tmp_path / "ran").exists()

    async def test_a_long_argument_is_passed_and_one_too_long_refused(
        self, open_launcher: OpenLauncher, tmp_path: Path
    ) -> None:
        many = ["x" * 1000] * 100
        async with open_launcher() as launcher:
            ended = await (await launcher.start(a_program(tmp_path, "echo", *many))).wait()
            with pytest.raises(ProgramNotExecutable, match="too long"):
                await launcher.start(a_program(tmp_path, "echo", "x" * 20_000_000))
        assert ended.stdout.text == " ".join(many) + "\n"

    async def test_a_start_that_failed_can_be_repeated(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        program = a_program(tmp_path, "./tool", stdin=b"input")._replace(folder=str(folder))
        async with open_launcher() as launcher:
            with pytest.raises(ProgramNotFound):
                await launcher.start(program)
            assert content(folder) == []
            a_file(tmp_path / "tool", "#!/bin/sh\ncat\n", 0o700)
            assert (await (await launcher.start(program)).wait()).stdout.text == "input"

    async def test_a_folder_is_for_one_run_only(self, open_launcher: OpenLauncher, tmp_path: Path) -> None:
        program = a_program(tmp_path, "sh", "-c", "echo ran >> ran; exec sleep 1000")
        async with open_launcher() as launcher, open_launcher() as another:
            running = await launcher.start(program)
            with pytest.raises(Invalid, match="another run"):
                await another.start(program)
            await running.stop()
            with pytest.raises(Invalid, match="another run"):
                await another.start(program._replace(run="another"))
            assert launcher.recall(program.folder) == await running.wait()
        assert (tmp_path / "ran").read_text(encoding="utf-8").count("ran") <= 1

    @pytest.mark.parametrize(
        "change",
        [
            {"argv": ()},
            {"argv": ("",)},
            {"argv": ("echo", "a\0b")},
            {"argv": ("echo", "\ud800")},
            {"cwd": "/no/such/folder"},
            {"cwd": "/dev/null"},
            {"folder": "/no/such/folder/run"},
            {"folder": "a\0b"},
            {"env": {"A=B": "c"}},
            {"env": {"": "c"}},
            {"env": {"A": "b\0c"}},
            {"run": ""},
            {"run": "two words"},
            {"run": "zwölf"},
            {"output_limit": -1},
            {"time_limit": 0.0},
            {"time_limit": math.nan},
            {"grace": -1.0},
            {"grace": math.inf},
        ],
        ids=repr,
    )
    async def test_a_wrong_value_is_refused_and_named(
        self, open_launcher: OpenLauncher, tmp_path: Path, change: dict[str, Any]
    ) -> None:
        program = a_program(tmp_path, "true")._replace(**change)
        async with open_launcher() as launcher:
            with pytest.raises(Invalid, match=next(iter(change))):
                await launcher.start(program)
        assert content(tmp_path) == []
