"""Fan-out: the work is cut into pieces, each child does one, and the lead puts the results together.

    python examples/fan_out.py

Each child is a separate program, here this same file. The lead's card has the command that starts a child and the limit
of children at once. The lead is notified of the end of every child. Of these six pieces, one takes too long and one is
empty.
"""

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import covey

PIECES = {
    "aeons.txt": "forever and ever",
    "apples.txt": "red and green, eleven in all",
    "birds.txt": "two crows on the fence",
    "clouds.txt": "one, and it is leaving",
    "dust.txt": "",
    "frogs.txt": "seven, all of them loud",
}
AT_ONCE = 3
LIMIT_S = 4


def model(text: str) -> str:
    """Stand for a model. A real call goes here, or into the card's command, such as: claude -p {prompt}."""
    if not text:
        raise ValueError("there is nothing in it")
    if text.startswith("forever"):
        print("so far: forever", flush=True)
        time.sleep(60)
    return f"{len(text.split())} words"


def child() -> None:
    """Do one piece. The printed text is the result; an error is a failure, with the last lines of stderr."""
    for file in Path(os.environ["COVEY_FOLDER"], "attachments").iterdir():
        print(model(file.read_text(encoding="utf-8")))


async def one_piece(lead: covey.Member, file: Path, room: asyncio.Semaphore) -> covey.RunResult | None:
    """Have one piece done. The attachment is a snapshot: the child sees the file as it was at the spawn."""
    async with room:
        started = await lead.spawn(
            f"How many words has {file.name}?", attachments=[str(file)], label=file.stem, time_limit=LIMIT_S
        )
        return await started.result(timeout=30)


def last_line(text: str) -> str:
    """Return the last line of a child's output. The last line of an error says most."""
    return (text.strip().splitlines() or ["(nothing)"])[-1]


async def fan_out(folder: Path) -> None:
    """Start a child for each piece, at most AT_ONCE at a time, and print each result."""
    files = [folder / name for name in PIECES]
    for file in files:
        file.write_text(PIECES[file.name], encoding="utf-8")
    card = covey.Card(command=(sys.executable, __file__, "child"), max_children=AT_ONCE)
    async with covey.open(f"sqlite:{folder}/covey.db", roots=[str(folder)]) as space:
        lead = await space.join("lead", card=card)
        room = asyncio.Semaphore(AT_ONCE)  # without it, a fourth child would be refused with spawn-limit
        results = await asyncio.gather(*(one_piece(lead, file, room) for file in files))
    for file, result in zip(files, results, strict=True):
        if result is None:
            print(f"{file.name:12} no result yet")  # a later result would arrive in the inbox
        else:
            print(f"{file.name:12} {result.status:10} {last_line(result.text)}")
    done = [result for result in results if result is not None and result.status is covey.RunState.COMPLETED]
    print(f"{len(done)} of {len(files)} pieces are done.")


if __name__ == "__main__":
    if sys.argv[1:] == ["child"]:
        child()
    else:
        with tempfile.TemporaryDirectory() as name:
            asyncio.run(fan_out(Path(name)))
