"""Contract of launchers: programs that can't be started, and must not have run."""

import math
from pathlib import Path
from typing import Any

import pytest

from covey.core.errors import Invalid, ProgramNotExecutable, ProgramNotFound
from covey.testing.opening import OpenLauncher
from covey.testing.programs import a_program


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
