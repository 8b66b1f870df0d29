"""Topics: short pages that teach, one file each, for `covey help TOPIC`."""

from collections.abc import Mapping
from typing import Final

TOPICS: Final[Mapping[str, str]] = {
    "start": "from an empty folder to two agents that work together",
    "ledger": "queued, offered, in context, handled: how far a message got",
    "addresses": "whom a message can be sent to, and what happens when nobody is there",
    "stores": "where a space is kept, and how it is found",
    "identity": "who acts, and how sure the space is of it",
    "sessions": "joining and leaving, and children: starting, seeing, stopping them",
    "gate": "requests, debts, and passing a scope only when nothing is owed",
    "tasks": "handing work over, doing it, and seeing how it fares",
    "numbers": "naming a message by its number instead of its id",
    "scripts": "JSON, stdin, waiting: covey in programs and hooks",
    "exit-codes": "what a command's exit code means",
    "environment": "the variables that covey reads",
}


def topic(name: str) -> str:
    """Return the page of a topic."""
    from pathlib import Path

    return Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
