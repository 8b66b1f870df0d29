"""Prunes, backups and restores that are killed repeatedly: each time, check the state left behind and the rerun."""

import os
import shutil
import tempfile
from pathlib import Path
from random import Random, randrange

from tests.chaos.interrupting import KILLED, Interrupter, interrupter
from tests.chaos.operated_space import Held, Past, check, fill


class Operation:
    """A space, a runner that kills commands on it, and a random generator."""

    def __init__(self, folder: Path, commands: Interrupter, random: Random, dialogues: int) -> None:
        self.folder = folder
        self._commands = commands
        self._random = random
        self._made = 0
        (folder / "template").mkdir()
        self.past: Past = fill(folder / "template" / "covey.db", dialogues)
        self.whole: Held = check(folder / "template" / "covey.db", self.past)
        self.kills = 0

    def space(self) -> Path:
        """Return a copy of the space in a separate folder."""
        self._made += 1
        target = self.folder / f"space{self._made}"
        shutil.copytree(self.folder / "template", target)
        return target / "covey.db"

    def run(self, *words: str) -> float:
        """Run a command to its end. Return its duration."""
        ended = self._commands.run([*words, "--agent", "ops"])
        assert ended.code == 0, f"{words} ended with {ended.code}"
        return ended.took_s

    def kill(self, within_s: float, *words: str) -> bool:
        """Run a command and kill it at a random moment. Return True if it was still running."""
        ended = self._commands.run([*words, "--agent", "ops"], self._random.uniform(0, within_s))
        assert ended.code in (0, KILLED), f"{words} ended with {ended.code}"
        self.kills += ended.code == KILLED
        return ended.code == KILLED


def killed_again_and_again(dialogues: int, kills: int) -> None:
    """Kill each command `kills` times at random moments. Fail if any record is lost, incomplete or duplicated."""
    seed = int(os.environ.get("COVEY_SEED") or randrange(2**32))
    print(f"\nCOVEY_SEED={seed} repeats the choices of this run")
    with tempfile.TemporaryDirectory(prefix="covey-operate-") as name, interrupter() as commands:
        operation = Operation(Path(name), commands, Random(seed), dialogues)
        for kill in (_kill_prunes, _kill_backups, _kill_restores):
            before = operation.kills
            kill(operation, kills)
            print(f"{kill.__name__.strip('_').replace('_', ' ')}: {operation.kills - before} while it ran")


def _kill_prunes(operation: Operation, kills: int) -> None:
    """Closed messages are removed sooner or later; open ones never are."""
    first = operation.space()
    takes_s = operation.run("prune", "--older-than", "1d", "--store", f"sqlite:{first}")
    done = check(first, operation.past)
    assert (done.closed, done.open, done.pruned) == (0, len(operation.past.open), len(operation.past.closed))
    half = tries = 0
    path = operation.space()
    while tries < kills or not half:
        tries += 1
        assert tries <= 10 * kills, "no prune was killed in the middle"
        words = ("prune", "--older-than", "1d", "--store", f"sqlite:{path}")
        operation.kill(takes_s, *words)
        held = check(path, operation.past)
        assert held.open == len(operation.past.open)
        half += 0 < held.pruned < len(operation.past.closed)
        if held.closed == 0:
            operation.run(*words)
            assert check(path, operation.past).pruned == len(operation.past.closed)
            shutil.rmtree(path.parent)
            path = operation.space()


def _kill_backups(operation: Operation, kills: int) -> None:
    """A backup under its name is complete, or does not exist. A run that was not killed leaves no other file."""
    path = operation.space()
    file = operation.folder / "backups" / "space.tar"
    file.parent.mkdir()
    words = ("backup", str(file), "--store", f"sqlite:{path}")
    takes_s = operation.run(*words)
    for _ in range(kills):
        file.unlink()
        operation.kill(takes_s * 1.1, *words)
        if not file.exists():
            operation.run(*words)
        assert [left.name for left in file.parent.iterdir()] == [file.name]
        target = operation.folder / "restored" / "covey.db"
        operation.run("restore", str(file), "--to", f"sqlite:{target}")
        held = check(target, operation.past)
        assert (held.closed, held.open) == (operation.whole.closed, operation.whole.open)
        shutil.rmtree(target.parent)
    assert check(path, operation.past) == operation.whole


def _kill_restores(operation: Operation, kills: int) -> None:
    """A space that is being replaced is the old one or the new one. A new place is empty or has the whole space."""
    pruned = operation.space()
    operation.run("prune", "--older-than", "1d", "--store", f"sqlite:{pruned}")
    old = check(pruned, operation.past)
    backup = str(operation.folder / "backups" / "space.tar")
    takes_s = operation.run("restore", backup, "--to", f"sqlite:{operation.folder / 'timed' / 'covey.db'}")
    for n in range(kills):
        target = operation.folder / f"target{n}" / "covey.db"
        if n % 2:
            shutil.copytree(pruned.parent, target.parent)
        words = ("restore", backup, "--to", f"sqlite:{target}", "--replace")
        operation.kill(takes_s * 1.1, *words)
        if target.exists():
            held = check(target, operation.past)
            counts = (held.closed, held.open, held.pruned)
            whole = (operation.whole.closed, operation.whole.open, 0)
            assert counts in ((0, 0, 0) if n % 2 == 0 else (old.closed, old.open, old.pruned), whole)
            assert held.sessions == 0
        operation.run(*words)
        held = check(target, operation.past)
        assert (held.closed, held.open) == (operation.whole.closed, operation.whole.open)
        assert not [left.name for left in target.parent.iterdir() if "restoring" in left.name]
        shutil.rmtree(target.parent)
