"""A foreign program beside the contracts: it works in the folder of each test while the test runs.

One process serves all tests. Its input names the folder to work in. It imports nothing of Covey. A `lively` program
sends, answers, archives and sweeps. A `quiet` one only does things that make no records: junk, partial files, lines in
the manifest, and a registry rewritten from an old copy.
"""

import json
import queue
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from tests.foreign.loop_folder import LoopError, LoopFolder
from tests.foreign.mailboxes import MailboxManager, card_of, message_of
from tests.foreign.running import Neighbour, neighbour

PROGRAM: Final = "tests.contracts.beside"
PAUSE_S: Final = 0.02
"""Pause between two rounds, so that the tested program gets the processor."""

JUNK: Final = (b"", b"{", b'{"id": 1}', b"\xff\xfe", b"[]", b'{"id": "x", "from": "", "body": 3}', b"null")


@contextmanager
def busy_in(program: Neighbour, root: Path, layout: str, mood: str) -> Generator[None]:
    """Let the program work in a folder. It has completed one round before the block begins."""
    program.say(json.dumps([str(root), layout, mood]))
    assert program.line() == "busy"
    try:
        yield
    finally:
        program.say("null")
        assert program.line() == "idle"


def serve(words: "queue.Queue[str]") -> None:
    while (line := words.get()) and (order := json.loads(line)):
        root, layout, mood = order
        make_round = _dialogue if layout == "dialogue" else _mailbox
        for number in count():
            make_round(Path(root), mood == "lively", number)
            if number == 0:
                print("busy", flush=True)
            with suppress(queue.Empty):
                words.get(timeout=PAUSE_S)
                break
        print("idle", flush=True)


def _dialogue(root: Path, is_lively: bool, number: int) -> None:
    folder = LoopFolder(root)
    if not is_lively:  # the lively program reads all files, and does not expect junk
        _clutter(root / "inbox" / "other-a", number, ".json")
        _clutter(root / "archive", number, ".json")
        with (root / "manifest.jsonl").open("a") as manifest:
            manifest.write(json.dumps({"event": "noted", "id": str(number)}) + "\n")
        return
    task = f"other-{number % 2}"
    asked = folder.send("other-a", "other-b", "does it fit?", phase=task, kind="request", expects_reply=True)
    folder.send("other-b", "other-a", "it does", phase=task, kind="response", in_reply_to=asked["id"])
    with suppress(LoopError):  # the tested program was faster
        folder.archive(asked["id"])
    if number % 5 == 4:
        folder.sweep(task)


def _mailbox(root: Path, is_lively: bool, number: int) -> None:
    manager = MailboxManager(root)
    _clutter(root / "other" / "inbox", number, ".msg.json")
    registry = root / "_registry.json"
    if is_lively:
        manager.register("other", card_of("other"))
        at = int(time.time()) + number
        manager.send("other", "another", message_of("other", "another", "message", f"number {number}", at), at)
        with suppress(OSError, ValueError):
            for path in sorted((root / "another" / "inbox").glob("*_other.msg.json"))[:-1]:
                manager.mark_processed("another", path.name)
    elif not registry.exists() or number % 3 == 0:
        registry.write_text("{}")


def _clutter(folder: Path, number: int, ending: str) -> None:
    """Add junk, move some of it about, and remove some."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"junk-{number % 4}{ending}").write_bytes(JUNK[number % len(JUNK)])
    (folder / ".half.tmp").write_bytes(b'{"id": ')
    with suppress(OSError):
        (folder / f"link{ending}").symlink_to("/etc/passwd")
    (folder / "a folder").mkdir(exist_ok=True)
    with suppress(OSError):
        (folder / f"junk-{(number + 2) % 4}{ending}").rename(folder / f"moved{ending}")
        (folder / f"junk-{(number + 1) % 4}{ending}").unlink()


@contextmanager
def started() -> Generator[Neighbour]:
    """Start the program."""
    with neighbour(PROGRAM, Path()) as program:
        yield program


def main() -> None:
    words: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in sys.stdin:
            words.put(line)
        words.put("")

    threading.Thread(target=listen, daemon=True).start()
    print("ready", flush=True)
    serve(words)


if __name__ == "__main__":
    main()
