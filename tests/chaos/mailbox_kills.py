"""Writers of a `MailboxManager` that are killed repeatedly, while a foreign program reads all their files."""

import json
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random, randrange
from typing import Any

from covey.mailbox import MailboxManager
from tests.chaos.nursery import nursery
from tests.foreign.running import MAILBOX, neighbour

NAMES = ("ann", "bob", "cy", "dee")
WRITERS = 4
LONGEST_PAUSE_S = 0.03
IDLE_LIMIT_S = 5.0


def run(text: str) -> None:
    """Run a writer in the process that the zygote forked: send, process, beat, and note each acknowledged operation."""
    root, path, seed = json.loads(text)
    random = Random(seed)
    manager = MailboxManager(root)
    me = random.choice(NAMES)
    diary = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    parent = os.getppid()

    def note(what: str, filename: str) -> None:
        os.write(diary, f"{what} {filename}\n".encode())

    manager.register(me, {"description": f"writer {me}"})
    note("registered", me)
    for number in range(1_000_000):
        if os.getppid() != parent:
            return
        note(
            "sent",
            manager.send(me, random.choice(NAMES), {"metadata": {"n": number, "x": "x" * random.randrange(9000)}}),
        )
        manager.heartbeat(me)
        for message in manager.poll(me)[:2]:
            if manager.mark_processed(me, message["filename"]):
                note("processed", message["filename"])


def killed_again_and_again(kills: int) -> None:
    """Kill writers at random. Then look for every acknowledged operation."""
    seed = int(os.environ.get("COVEY_SEED") or randrange(2**32))
    print(f"\nCOVEY_SEED={seed} repeats the choices of this run")
    folder = Path(tempfile.mkdtemp(prefix="covey-kills-"))
    try:
        _rampage(folder, Random(seed), kills)
    except BaseException:
        print(f"the mailboxes and the writers' diaries are kept in {folder}")
        raise
    shutil.rmtree(folder)


def _rampage(folder: Path, random: Random, kills: int) -> None:
    root, diaries = folder / "mailboxes", folder / "diaries"
    root.mkdir()
    diaries.mkdir()
    began = time.monotonic()
    with neighbour(MAILBOX, root, "watch") as onlooker, nursery(__name__, folder) as writers:

        def start(number: int) -> int:
            return writers.start(json.dumps([str(root), str(diaries / f"{number:05}"), random.randrange(2**32)]))

        pids = [start(number) for number in range(WRITERS)]
        for number in range(kills):
            written = _size(diaries)
            time.sleep(random.uniform(0, LONGEST_PAUSE_S))
            ends_at = time.monotonic() + IDLE_LIMIT_S
            while _size(diaries) == written and time.monotonic() < ends_at:
                time.sleep(0.002)
            slot = random.randrange(WRITERS)
            assert writers.kill(pids[slot]) == "killed"
            pids[slot] = start(WRITERS + number)
        for pid in pids:
            assert writers.kill(pid) == "killed"
        seen = onlooker.answer()
    assert seen["broken"] == []
    sent = _judge(root, diaries)
    print(f"kills {kills} · sent {sent} · looks of the onlooker {seen['looks']} · {time.monotonic() - began:.0f} s")
    assert sent > kills, "the writers hardly came to do anything"


def _judge(root: Path, diaries: Path) -> int:
    notes = list(_notes(diaries))
    where = Counter(path.name for path in root.glob("*/*/*.msg.json"))
    assert [name for what, name in notes if what == "sent" and where[name] != 1] == [], "lost, or there twice"
    processed = {path.name for path in root.glob("*/processed/*.msg.json")}
    assert [name for what, name in notes if what == "processed" and name not in processed] == []
    registry: dict[str, Any] = json.loads((root / "_registry.json").read_bytes())
    registered = {name for what, name in notes if what == "registered"}
    assert {name: registry[name]["description"] for name in registered} == {
        name: f"writer {name}" for name in registered
    }
    for path in root.glob("**/.covey-*.tmp"):
        os.utime(path, (1, 1))
    manager = MailboxManager(root)
    manager.register("judge", {})
    for name in NAMES:
        assert manager.broken(name) == []
    assert list(root.glob("**/.covey-*.tmp")) == [], "what killed writers leave goes after a while"
    return sum(what == "sent" for what, _ in notes)


def _notes(diaries: Path) -> Iterator[tuple[str, str]]:
    for path in diaries.iterdir():
        for line in path.read_text().splitlines():
            what, _, name = line.partition(" ")
            yield what, name


def _size(diaries: Path) -> int:
    return sum(path.stat().st_size for path in diaries.iterdir())
