"""The prompt of a task, for its program."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from covey.core.ledger.message import DataPart
from covey.core.text.escape import enclosed, one_line
from covey.core.times import format_instant
from covey.runtime.tasks.held import HeldTask

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
        notes.append(f"- This is attempt {held.attempt}: an earlier one was broken off, and may have done a part.")
    return notes
