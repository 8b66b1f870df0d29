"""Topics: short pages that teach, one file each, for `covey help TOPIC`."""

from collections.abc import Mapping
from typing import Final

TOPICS: Final[Mapping[str, str]] = {
    "start": "from an empty folder to two agents that work together",
    "dialogue": "the verbs messages-*, for loops of agents that review each other",
    "ledger": "queued, offered, in context, handled: how far a message got",
    "addresses": "the recipients of a message, and mail for agents that are offline",
    "stores": "where a space is kept, and how it is found",
    "identity": "the acting agent, and the proof of its identity",
    "sessions": "joining and leaving, and children: starting, seeing, stopping them",
    "gate": "questions, answers, and a scope that passes only without open questions",
    "tasks": "delegating work, doing it, and following its progress",
    "numbers": "naming a message by its number instead of its id",
    "scripts": "JSON, stdin, waiting: covey in programs and hooks",
    "exit-codes": "the exit codes of commands",
    "environment": "the variables that covey reads",
}


def topic(name: str) -> str:
    """Return the page of a topic."""
    from pathlib import Path

    return Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
