"""Use of a folder full of junk: every message is found, mail goes both ways, and nothing else is changed."""

import json
from pathlib import Path

import covey
from covey.core.formats.layout import Layout, agent_of
from tests.foreign.running import until
from tests.scenarios.junk import Junk, fill, inbox_of, message
from tests.scenarios.world import LIMIT_S, soon
from tests.surfaces.commands import Folder

CODES = {
    "folder-file-unparsed",
    "folder-file-large",
    "folder-file-link",
    "folder-file-special",
    "folder-file-misnamed",
    "folder-file-stray",
}


async def live_with(root: Path, layout: Layout, junk: Junk) -> None:
    """Use a folder: every message in it is found, and mail goes both ways."""
    suffix = ".json" if layout is Layout.DIALOGUE else ".msg.json"
    async with covey.open(f"files:{root}?layout={layout}") as space:
        coder = await space.join("coder")
        waiting = await coder.inbox.peek()
        assert {delivery.text for delivery in waiting} == {f"from {name}" for name in junk.alphabets}
        by_text = {delivery.text: delivery for delivery in waiting}
        for name in junk.alphabets:
            assert by_text[f"from {name}"].sender.agent == agent_of(name)
        first, last = junk.alphabets[0], junk.alphabets[-1]
        for name in (first, last):
            await by_text[f"from {name}"].reply(f"thank you, {name}")
            bodies = [path.read_text() for path in inbox_of(root, layout, name).glob(f"*{suffix}")]
            assert any(f"thank you, {name}" in body for body in bodies), "the answer is in its folder, under its name"
        inbox = inbox_of(root, layout, "coder")
        new = message(layout, first, "coder", "one more", 300_000)
        (inbox / f".new{suffix}.tmp").write_text(json.dumps(new))
        (inbox / f".new{suffix}.tmp").rename(inbox / f"1745900000_new{suffix}")
        delivery = await soon(coder.inbox.next(timeout=LIMIT_S))
        while delivery is not None and delivery.text != "one more":
            delivery = await soon(coder.inbox.next(timeout=LIMIT_S))
        assert delivery is not None
        await delivery.handle()
        stored = await space.services.history.last()
        assert stored > junk.archived
        found = await space.search(f"number {junk.archived - 1}")
        assert any(hit.message.text == f"number {junk.archived - 1}" for hit in found), "the archive was taken in"
        assert await space.services.audit.check() == []


def check_untouched(junk: Junk) -> None:
    for name, content in junk.untouched.items():
        path = Path(name)
        assert (path.readlink().as_posix() if path.is_symlink() else path.read_bytes()) == content


def check_doctor(root: Path) -> None:
    """Run the doctor until no file is so recent that a program might still be writing to it."""
    folder = Folder(root)
    until(lambda: "half" in folder.covey("doctor", "--json").out)
    said = folder.covey("doctor", "--json").json
    assert {finding["code"] for finding in said["findings"]} >= CODES
    items = "\n".join(item for finding in said["findings"] for item in finding["items"])
    assert [name for name in ("half", "huge", "circle", "pipe", "notes.txt") if name not in items] == []
    assert "line\\nbreak" in items, "no name does anything to a terminal"


async def live_through(root: Path, layout: Layout, archived: int) -> None:
    """Fill a folder, use it, and act on the doctor's findings."""
    junk = fill(root, layout, archived)
    await live_with(root, layout, junk)
    check_untouched(junk)
    check_doctor(root)
    # The user mends one file, which is then taken in.
    suffix = ".json" if layout is Layout.DIALOGUE else ".msg.json"
    inbox = inbox_of(root, layout, "coder")
    (inbox / f"half{suffix}").write_text(json.dumps(message(layout, "mender", "coder", "mended", 400_000)))
    async with covey.open(f"files:{root}?layout={layout}") as space:
        coder = await space.join("coder")
        assert "mended" in [delivery.text for delivery in await coder.inbox.peek()]
