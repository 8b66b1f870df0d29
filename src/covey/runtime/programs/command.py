"""The command of a task: words with placeholders, no shell."""

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from covey.core.errors import Invalid, ProgramNotExecutable, ProgramNotFound

PLACEHOLDERS: Final = ("prompt", "task", "folder", "agent")
_PLACEHOLDER: Final = re.compile(r"\{(" + "|".join(PLACEHOLDERS) + r")\}")

LONGEST_WORD: Final = 128 * 1024 - 1
"""Largest size of one argument in bytes, on Linux."""


class Command(NamedTuple):
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the program, without its folder."""
        return Path(self.words[0]).name

    @property
    def takes_prompt(self) -> bool:
        """True if the prompt is an argument; otherwise the prompt is on stdin."""
        return any("{prompt}" in word for word in self.words)

    def filled(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """Return the words with their placeholders filled in: each word stays one argument, whatever its value
        contains."""
        words = tuple(_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in self.words)
        if max(len(os.fsencode(word)) for word in words) > LONGEST_WORD:
            raise Invalid(
                "prompt",
                f"{len(values['prompt']):,} characters",
                f"an argument has at most {LONGEST_WORD:,} bytes; a command without {{prompt}} gets it on stdin",
            )
        return words


def parse_command(text: str) -> Command:
    """Parse a command line, quoted as in a shell."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise Invalid("command", text, f"{str(error).lower()}: quote it as in a shell") from None
    if not words or not words[0]:
        raise Invalid("command", text, "name a program")
    if _PLACEHOLDER.search(words[0]):
        raise Invalid("command", text, "the program itself can't come from the task")
    return Command(words)


def check_program(command: Command, folder: Path) -> None:
    """Raise ProgramNotFound or ProgramNotExecutable if the command can't be run: once at the start, not for every
    task."""
    program = command.words[0]
    if "/" not in program:
        if shutil.which(program) is None:
            raise ProgramNotFound(program)
        return
    path = folder / program
    if not path.exists():
        raise ProgramNotFound(program)
    if not path.is_file() or not os.access(path, os.X_OK):
        raise ProgramNotExecutable(program, "it is no executable file")
