"""A rampage on a shared folder: our writers are killed, while a foreign program writes and another one reads."""

import os
import shutil
import tempfile
from pathlib import Path
from random import Random, randrange

from covey.core.formats.layout import Layout
from tests.chaos.files_verdict import judge_folder, wanted_in
from tests.chaos.rampage import check, register
from tests.chaos.supervisor import supervised
from tests.chaos.verdict import judge
from tests.foreign.running import LOOP, MAILBOX, neighbour

PROGRAMS = {Layout.DIALOGUE: LOOP, Layout.MAILBOX: MAILBOX}


def rampage(kills: int, layout: Layout) -> None:
    """Kill our writers at random. Then compare the folder with the ledger, and the ledger with its journal."""
    seed = int(os.environ.get("COVEY_SEED") or randrange(2**32))
    print(f"\nCOVEY_SEED={seed} repeats the choices of this run")
    folder = Path(tempfile.mkdtemp(prefix="covey-chaos-"))
    try:
        _rampage(folder, Random(seed), kills, layout)
    except BaseException:
        print(f"the folder and the workers' diaries are kept in {folder}")
        raise
    shutil.rmtree(folder)


def _rampage(folder: Path, random: Random, kills: int, layout: Layout) -> None:
    root, program = folder / "shared", PROGRAMS[layout]
    database, url = root / ".covey" / "covey.db", f"files:{root}?layout={layout}"
    register(url)
    with neighbour(program, root, "watch") as onlooker, neighbour(program, root, "busy", "other") as busy:
        with supervised(folder, random, url) as supervisor:
            supervisor.start()
            supervisor.rampage(kills)
            supervisor.stop()
        theirs: list[str] = busy.answer()
        seen = onlooker.answer()
    assert seen["broken"] == [], "the foreign reader saw half a file"
    verdict = judge(folder / "diaries", url, database, is_over=True)
    check(supervisor, verdict)
    print(f"files seen {seen['seen']} in {seen['looks']} looks · messages of the foreign program {len(theirs)}")
    # Files that the foreign program archived before a look are found by a full look, which a missing notebook causes.
    (root / ".covey" / "mirror.db").unlink()
    wanted = wanted_in(root, layout)
    taken_in = {elsewhere for elsewhere, _ in wanted.foreign}
    lost = [one for one in theirs if one not in taken_in]
    assert len(lost) <= wanted.pruned, f"what the foreign program sent was lost: {lost[:20]}"
    faults = judge_folder(root, layout)
    assert not faults, "\n".join(faults[:20])
    assert supervisor.kills == kills
    assert verdict.accepted > kills / 3, "the workers hardly came to do anything"
