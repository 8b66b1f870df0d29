"""A desk that delegates tasks to the agent `coder`, lets it work, and reads the results."""

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from covey.surfaces.cli.exits import DONE
from tests.surfaces.commands import Said

_HEAD = """\
import json, os, signal, sys, time
from pathlib import Path
folder = Path(os.environ["COVEY_FOLDER"])
output = folder / "output"
"""


class Ended(NamedTuple):
    """The delegator's view of a task: its state, reason, text, data, and files by name."""

    state: str
    reason: str
    text: str
    data: Any
    files: dict[str, bytes]


class Desk:
    def __init__(self, covey: Callable[..., Said], folder: Path) -> None:
        self.covey = covey
        self.folder = folder

    def delegate(self, text: str, *more: str) -> str:
        said = self.covey("delegate", "--from", "ann", "--to", "coder", text, "--no-wait", "--register", *more)
        assert said.code == DONE, said
        return said.out.strip()

    def work(self, command: str, *more: str) -> Said:
        """Run `covey work` until no task is left."""
        return self.covey("work", "coder", "--run", command, "--once", *more)

    def program(self, code: str, name: str = "program.py") -> str:
        """Write a program in Python; return the command that runs it."""
        path = self.folder / name
        path.write_text(f"{_HEAD}\n{code}\n")
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"

    def ended(self, task: str) -> Ended:
        shown = self.covey("task", task, "--json").json
        parts: list[dict[str, Any]] = shown["result"]["parts"] if shown["result"] else []
        return Ended(
            shown["state"],
            shown["reason"] or "",
            "\n\n".join(part["text"] for part in parts if part["type"] == "text"),
            next((part["data"] for part in parts if part["type"] == "data"), None),
            {part["name"]: self._content(part["digest"]) for part in parts if part["type"] == "file"},
        )

    def moves(self, task: str) -> list[str]:
        """Return the moves of a task, in words."""
        return [move["what"] for move in self.covey("task", task, "--json").json["history"]]

    def _content(self, digest: str) -> bytes:
        return (self.folder / ".covey" / "blobs" / digest[:2] / digest[2:]).read_bytes()


def marked(variable: str, value: str) -> Sequence[int]:
    """Return the processes with this variable in their environment."""
    wanted = f"{variable}={value}".encode()
    found: list[int] = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
            except OSError:
                continue  # the process has ended, or belongs to another user
    return found
