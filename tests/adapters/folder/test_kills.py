"""Writers that are killed between any two steps: no reader sees half a file, and the next writer finishes the work."""

import json
from pathlib import Path

import pytest

from covey.core.formats.layout import Layout, Shelf
from covey.ports.folder import Visit
from tests.adapters.children import child
from tests.adapters.folder.desk import ALL, Desk, content, message_id

WRITER = """
import os, signal, sys
from pathlib import Path
from covey.core.formats.layout import Layout
from tests.adapters.folder.desk import Desk
from tests.adapters.folder.test_kills import work

STEPS = ("open", "write", "pwrite", "fsync", "rename", "unlink", "mkdir", "link", "utime", "flock")

def dying_at(step):
    count = 0
    def wrapped(name, real):
        def call(*arguments, **named):
            nonlocal count
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **named)
        return call
    import fcntl
    for name in STEPS:
        home = fcntl if name == "flock" else os
        setattr(home, name, wrapped(name, getattr(home, name)))

for line in sys.stdin:
    step, root = line.split(maxsplit=1)
    child = os.fork()
    if child == 0:
        desk = Desk(Path(root.strip()), Layout(sys.argv[1]))
        dying_at(int(step))
        work(desk)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print("killed" if os.WIFSIGNALED(status) else f"ended {os.WEXITSTATUS(status)}")
"""

LINES = [(n, json.dumps({"event": "sent", "id": message_id(n), "position": n})) for n in (1, 2, 3, 4)]


def work(desk: Desk) -> None:
    """Make the changes of one pass: write two files, move one, leave one, append to the manifest."""

    async def visit(there: Visit) -> None:
        await there.look(ALL)
        await there.bring([desk.sheet(1), desk.sheet(2, Shelf.ARCHIVE), desk.sheet(3), desk.sheet(4, owner="anna")])
        assert await there.append([line for line in LINES if line[0] > there.manifest_position], 4)
        await there.register({"bob": {"agent_id": "bob"}})
        await there.advance(4)

    desk.during(visit)


def begin(root: Path, layout: Layout) -> Desk:
    """Return a folder with one file at its final place and one at another place."""
    desk = Desk(root, layout)
    desk.bring(desk.sheet(1), desk.sheet(2))
    return desk


def check_whole(desk: Desk) -> None:
    for path, text in desk.files().items():
        assert text in {content(n) for n in (1, 2, 3, 4)}, path
    held = list(desk.files().values())
    for n in (1, 2):  # the earlier files still exist, once
        assert held.count(content(n)) == 1


@pytest.mark.requirement("mailbox.atomic", "dialogue.manifest")
@pytest.mark.parametrize("layout", Layout)
def test_a_writer_killed_at_any_step_leaves_whole_files_and_the_next_one_finishes(quick: Path, layout: Layout) -> None:
    with child(WRITER, layout) as killed:
        for step in range(1, 500):
            desk = begin(quick / str(step), layout)
            desk.close()
            killed.say(f"{step} {desk.root}")
            end = killed.line()
            check_whole(desk)
            desk.reopen()
            finish_work(desk)
            desk.close()
            if end == "ended 0":
                break
            assert end == "killed"
        else:
            raise AssertionError("the work never ended")
    assert step > 30


def finish_work(desk: Desk) -> None:
    """Repeat the work, and check that the result is the same as without a kill."""
    sighting = desk.look()
    assert sighting.arrived == [], "a file of ours was taken for a foreign one"
    assert all(left.now is None for left in sighting.left), "a move of ours was taken for a foreign one"
    work(desk)
    wanted = [desk.spot(1), desk.spot(2, Shelf.ARCHIVE), desk.spot(3), desk.spot(4, owner="anna")]
    assert desk.files() == {
        str(desk.path(spot).relative_to(desk.root)): content(n + 1) for n, spot in enumerate(wanted)
    }
    assert desk.look().arrived == []
    assert desk.look().left == []
    assert (desk.root / "manifest.jsonl").read_text().splitlines() == [line for _, line in LINES]
    if desk.layout is Layout.MAILBOX:
        assert json.loads((desk.root / "_registry.json").read_text()) == {"bob": {"agent_id": "bob"}}
