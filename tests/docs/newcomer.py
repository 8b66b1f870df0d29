"""A newcomer: the blocks of a page, run in order at terminals, in an empty folder with an empty home.

A `console` block has commands after `$ `, each with its output below. A terminal is one shell, so that `cd` and
`export` last. <!-- terminal: 2 --> on the line before a block names another terminal. If the last command of a block
still waits when a block of another terminal follows, that block begins as soon as the command has sent its message.

A Python block is a program: it is saved and run. <!-- file: critic.py --> only saves it. The output of a command or a
program must be as on the page. Ids, times, ages and the folder may differ, … stands for anything on its line, and a
line with nothing but … for any lines. A command ends with 0, unless the page has a comment after it: # exit 1
"""

import fcntl
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from tests.docs.snippets import Block, Use, arrows, blocks
from tests.surfaces.commands import Folder

LIMIT_S: Final = 40.0
COLUMNS: Final = 80
_END: Final = re.compile(r"^\x1e(?P<code>\d+)\n", re.MULTILINE)
_EXIT: Final = re.compile(r"# exit (?P<code>\d+)$")
_VARIES: Final = re.compile(
    r"""\d{13}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}  # the id of a message
    |(?:\d\d-\d\d\ )?\d\d:\d\d:\d\d  # a time
    |\b\d+(?:ms|s|m|h|d)\b  # an age
    """,
    re.VERBOSE,
)


class Command(NamedTuple):
    block: Block
    text: str
    shown: str
    """The output on the page."""

    @property
    def code(self) -> int:
        found = _EXIT.search(self.text)
        return int(found["code"]) if found else 0


def commands(block: Block) -> Iterator[Command]:
    """Yield the commands of a console block, each with its output. A command goes on after a backslash."""
    assert block.code.startswith("$ "), f"{block.page.name}:{block.line}: a console block begins with a command"
    for piece in re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]:
        found = re.fullmatch(r"(?P<command>(?:.*\\\n)*.*)\n(?P<shown>(?:.*\n)*)", piece)
        assert found is not None
        yield Command(block, found["command"], found["shown"])


class Shell:
    """A shell at a terminal of its own. It is killed when the block ends."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            ["/bin/sh"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(LIMIT_S)
        assert self._process.stdin is not None
        self._process.stdin.close()
        os.close(self._master)

    def enter(self, command: str) -> None:
        """Start a command. Its end is marked on the terminal."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{{ {command}\n}} < /dev/null; printf '\\036%d\\n' $?\n".encode())
        self._process.stdin.flush()

    @property
    def has_shown(self) -> bool:
        """True if the command has written a line that was read."""
        return "\n" in self._shown

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Read from the terminal. Return True if the command has ended."""
        if not _END.search(self._shown) and select.select([self._master], [], [], seconds)[0]:
            self._shown += os.read(self._master, 65_536).decode().replace("\r\n", "\n")
        return _END.search(self._shown) is not None

    def result(self) -> tuple[str, int]:
        """Wait until the command ends. Return its output and its exit code."""
        ends_at = time.monotonic() + LIMIT_S
        while not self.has_ended(max(0.0, ends_at - time.monotonic())):
            assert time.monotonic() < ends_at, f"the command did not end within {LIMIT_S} s:\n{self._shown}"
        end = _END.search(self._shown)
        assert end is not None
        shown, self._shown = self._shown[: end.start()], self._shown[end.end() :]
        return shown, int(end["code"])


class Newcomer:
    """Runs pages in an empty folder. `root` also has the home and the other folders that programs like to write to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "work"
        self.environment = {"PATH": f"{_programs(root / 'bin')}:/usr/bin:/bin", "TERM": "dumb", "LANG": "C.UTF-8"}
        self.folder.mkdir()
        for name in ("HOME", "TMPDIR", *(f"XDG_{use}_HOME" for use in ("CONFIG", "CACHE", "DATA", "STATE"))):
            self.environment[name] = str(root / name.lower())
            (root / name.lower()).mkdir()
        runtime = root / "xdg_runtime_dir"
        runtime.mkdir(mode=0o700)
        self.environment["XDG_RUNTIME_DIR"] = str(runtime)
        self._waiting: dict[str, Command] = {}
        self._shells: dict[str, Shell] = {}

    def listing(self) -> Sequence[str]:
        """Return all files and folders outside the working folder, with their sizes and times of change."""
        outside = (path for path in self.root.rglob("*") if not path.is_relative_to(self.folder))
        return sorted(f"{path} {path.lstat().st_size} {path.lstat().st_mtime_ns}" for path in outside)

    def run(self, page: Path) -> int:
        """Run the blocks of a page, in order. Return the number of blocks that were run."""
        count = 0
        self._waiting.clear()
        self._shells.clear()
        with ExitStack() as stack:
            todo = [block for block in blocks(page) if block.use is not Use.NO_RUN]
            for number, block in enumerate(todo):
                if block.use is Use.FILE:
                    (self.folder / block.what).write_text(block.code, encoding="utf-8")
                elif block.language == "python":
                    self._program(stack, block)
                else:
                    assert block.language == "console", f"{page.name}:{block.line}: {block.language} can't be run"
                    after = todo[number + 1] if number + 1 < len(todo) else None
                    is_last = after is None or after.use is not Use.TERMINAL or after.what == block.what
                    self._commands(stack, block, may_wait=not is_last)
                count += 1
            for terminal in [*self._waiting]:
                self._compare(terminal)
        return count

    def _program(self, stack: ExitStack, block: Block) -> None:
        name = f"block_{block.line}.py"
        (self.folder / name).write_text(block.code, encoding="utf-8")
        shown = "".join(f"{line}\n" for line in arrows(block.code))
        self._enter(stack, "", Command(block, f"python3 {name}", shown))
        self._compare("")

    def _commands(self, stack: ExitStack, block: Block, *, may_wait: bool) -> None:
        terminal = block.what if block.use is Use.TERMINAL else ""
        todo = [*commands(block)]
        for command in todo:
            sent = self._sent() if may_wait and command is todo[-1] else None
            self._enter(stack, terminal, command)
            if sent is not None:
                self._until_sent(terminal, sent)
            else:
                self._compare(terminal)

    def _enter(self, stack: ExitStack, terminal: str, command: Command) -> None:
        if terminal in self._waiting:
            self._compare(terminal)
        if terminal not in self._shells:
            self._shells[terminal] = stack.enter_context(Shell(self.folder, self.environment))
        self._waiting[terminal] = command
        self._shells[terminal].enter(command.text)

    def _until_sent(self, terminal: str, sent: int) -> None:
        """Wait until a command has sent a message, or has ended. `covey` also shows that it waits."""
        shell, is_quiet = self._shells[terminal], not self._waiting[terminal].text.startswith("covey ")
        ends_at = time.monotonic() + LIMIT_S
        while not shell.has_ended(0.05) and not ((is_quiet or shell.has_shown) and self._sent() > sent):
            assert time.monotonic() < ends_at, f"no message was sent within {LIMIT_S} s"

    def _sent(self) -> int:
        """Return the number of messages that were sent in the space of the folder."""
        said = Folder(self.folder).covey("log", "--action", "message.sent", "--json")
        return len(said.out.splitlines())

    def _compare(self, terminal: str) -> None:
        """Wait until the command of a terminal ends, and fail if its result is not as on the page."""
        command = self._waiting.pop(terminal)
        printed, code = self._shells[terminal].result()
        where = f"{command.block.page.name}:{command.block.line}: {command.text}"
        assert _pattern(self._masked(command.shown)).fullmatch(self._masked(printed)), (
            f"{where}\nthe page shows\n{command.shown}but the command printed\n{printed}"
        )
        assert code == command.code, f"{where}\nended with {code}"

    def _masked(self, text: str) -> str:
        """Return the output without ids, times and the folder, each column separated by one space."""
        known = _VARIES.sub("…", text.replace(str(self.folder), "…"))
        return "".join(f"{' '.join(line.split())}\n" for line in known.splitlines())


def _pattern(shown: str) -> re.Pattern[str]:
    lines = (line if line != "…\n" else None for line in shown.splitlines(keepends=True))
    return re.compile(
        "".join("(?:.*\n)*" if line is None else ".*".join(map(re.escape, line.split("…"))) for line in lines)
    )


def _programs(folder: Path) -> Path:
    """Make a folder with `covey` and `python` of this environment, and nothing else of it."""
    folder.mkdir()
    for name, words in {"covey": [sys.executable, "-m", "covey"], "python": [sys.executable]}.items():
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    (folder / "python3").symlink_to("python")
    return folder
