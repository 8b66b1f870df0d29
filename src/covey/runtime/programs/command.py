"""The command of a task, which is words with placeholders and no shell, and the prompt for its program."""

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from covey.core.errors import Invalid, ProgramNotExecutable, ProgramNotFound
from covey.core.ledger.message import DataPart
from covey.core.text.escape import enclosed, one_line
from covey.core.times import format_instant
from covey.runtime.tasks.held_task import HeldTask

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
        raise Invalid("command", text, "the program itself can't be a placeholder for the task")
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


PROGRESS_MARK = "::progress "
"""Prefix of an output line that reports progress."""


def prompt_for(held: HeldTask, agent: str, attachments: Sequence[Path], output: Path) -> str:
    """Return a prompt with everything known of a task, for a program that passes it to a model."""
    parts = held.message.parts
    data = [json.dumps(part.data, ensure_ascii=False) for part in parts if isinstance(part, DataPart)]
    files = [f"- {one_line(str(path))}" for path in attachments]
    sections = [
        f"You are the agent {agent}. {held.delegator} has handed you this task:",
        enclosed("task", held.text.strip(), from_=held.delegator, id=held.id),
        enclosed("data", "\n".join(data), from_=held.delegator) if data else "",
        "\n".join(["Files that go with it:", *files]) if files else "",
        "\n".join(_notes(held, output)),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _notes(held: HeldTask, output: Path) -> Sequence[str]:
    notes = [
        "About this task:",
        f"- Its id is {held.id}.",
        f"- What you print is the result that {held.delegator} gets.",
        f"- Files for {held.delegator} belong in {shlex.quote(str(output))}.",
        f"- To tell how far you are: covey update --progress TEXT, or print a line '{PROGRESS_MARK}TEXT'.",
    ]
    if held.record.deadline is not None:
        notes.append(f"- It has to be done by {format_instant(held.record.deadline)}.")
    if held.attempt > 1:
        notes.append(f"- This is attempt {held.attempt}: an earlier attempt was interrupted, and may have done a part.")
    return notes
