"""Long-lived helper: a child that stays, remembers facts, and answers its parent and people.

    python examples/long_lived_helper.py

A child in mode `session` is bound to a conversation on a channel. People read the posts of the child there, and the
child receives their messages. Here the child is a function of this program, which is called for each message. A program
on an agent's card would be started for each message, with the conversation so far in its prompt. Commands of `covey`
stand for the person.
"""

import asyncio
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import covey

SECONDS = 20


class Librarian:
    """The helper, with facts that it remembers as long as it lives."""

    def __init__(self) -> None:
        self._notes: list[str] = []

    async def __call__(self, errand: covey.Errand) -> str:
        """Answer one message. A real call of a model goes here, with errand.prompt; errand.me sends and asks."""
        if errand.task.startswith("Remember: "):
            self._notes.append(errand.task.removeprefix("Remember: "))
            return f"Noted, that makes {len(self._notes)}."
        subject = errand.task.rstrip("?").split()[-1]
        return next((note for note in self._notes if subject in note), "I know nothing about that.")


async def start(store: str, *words: str) -> Process:
    """Start a command, as a person would in a terminal."""
    argv = (sys.executable, "-m", "covey", *words, "--store", store)
    return await asyncio.create_subprocess_exec(*argv, stdout=PIPE, stderr=PIPE)


async def command(store: str, *words: str) -> None:
    """Run a command to its end."""
    process = await start(store, *words)
    _, errors = await process.communicate()
    if process.returncode:
        raise RuntimeError(errors.decode())


async def ask(lead: covey.Member, child: covey.Spawned, text: str) -> None:
    """Ask the child and print its answer."""
    outcome = await lead.ask(str(child.key), text, timeout=SECONDS)
    print(f"lead: {text} → {outcome.text}")


async def watch_console(store: str, count: int) -> None:
    """Carry `count` posts to the console, as `covey channels run` does in a separate terminal."""
    console = await start(store, "channels", "run", "desk")
    assert console.stdout is not None
    try:
        for _ in range(count):
            line = await asyncio.wait_for(console.stdout.readline(), SECONDS)
            print(f"on the desk: {line.decode().strip()}")
    finally:
        console.terminate()
        await console.communicate()


async def long_lived_helper(folder: Path) -> None:
    """Start the helper, let its parent and a person ask it, and stop it."""
    store = f"sqlite:{folder}/covey.db"
    await command(store, "init")
    await command(store, "channels", "add", "desk", "--console", "--as", "lead")
    async with covey.open(store) as space:
        lead = await space.join("lead")
        known = await space.join("librarian", card=covey.Card(description="remembers where things are"))
        await known.leave()  # the agent stays known: the child will be its only session
        child = await lead.spawn(
            "Remember: the parser is in core/parse.py",
            agent="librarian",
            mode="session",
            thread=("desk", "library"),
            label="librarian",
            run=Librarian(),
        )
        first = await child.result(timeout=SECONDS)
        print(f"librarian: {first.text if first is not None else 'no answer yet'}")
        await ask(lead, child, "Remember: releases are on Fridays")
        await ask(lead, child, "Where is the parser?")
        await command(store, "channels", "say", "desk", "library", "When are releases?", "--person", "ada")
        await watch_console(store, 4)
        await child.stop("the office closes")
        print(f"librarian: {child.state}, {child.record.reason}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(long_lived_helper(Path(name)))
