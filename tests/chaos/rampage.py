"""A whole rampage with its verdict, for the long run and for the short one."""

import os
import shutil
import tempfile
from pathlib import Path
from random import Random, randrange

from covey.core.directory.card import Capacity, Card, Overflow
from covey.core.identity import Identity
from covey.engines import connect_inline, parse_store_url
from covey.services.space import Services
from tests.chaos.life import NAMES
from tests.chaos.supervisor import Supervisor, supervised
from tests.chaos.talkative import let_talk
from tests.chaos.verdict import Verdict, judge
from tests.properties.world import finish

CAPACITIES = (
    Capacity(100, Overflow.HOLD),
    Capacity(1000, Overflow.HOLD),
    Capacity(30, Overflow.EVICT_OLDEST),
    Capacity(64, Overflow.FIRST_IN_FIRST_OUT),
)


def rampage(kills: int, rounds: int) -> None:
    """Kill workers at random, check the space after each round while the others continue, and judge it at the end."""
    seed = int(os.environ.get("COVEY_SEED") or randrange(2**32))
    print(f"\nCOVEY_SEED={seed} repeats the choices of this run")
    # Not a folder of pytest: the paths of sockets must be short.
    folder = Path(tempfile.mkdtemp(prefix="covey-chaos-"))
    try:
        _rampage(folder, Random(seed), kills, rounds)
    except BaseException:
        print(f"the space and the workers' diaries are kept in {folder}")
        raise
    shutil.rmtree(folder)


def _rampage(folder: Path, random: Random, kills: int, rounds: int) -> None:
    database = folder / "covey.db"
    url = f"sqlite:{database}"
    register(url)
    with supervised(folder, random, url) as supervisor:
        supervisor.start()
        for done in range(rounds):
            supervisor.rampage(kills // rounds)
            if done + 1 < rounds:
                check(supervisor, judge(folder / "diaries", url, database, is_over=False))
        supervisor.stop()
    verdict = judge(folder / "diaries", url, database, is_over=True)
    check(supervisor, verdict)
    assert supervisor.kills == kills
    assert verdict.accepted > kills, "the workers hardly came to do anything"


def check(supervisor: Supervisor, verdict: Verdict) -> None:
    """Print the verdict, and fail if it has faults."""
    kills, spent_s = supervisor.kills, supervisor.spent_s
    print(
        f"kills {kills} ({kills / spent_s:.0f}/s) · accepted {verdict.accepted} ({verdict.accepted / spent_s:.0f}/s) ·"
        f" settled, archived, withdrawn {verdict.done} · pruned {verdict.pruned} ·"
        f" lost {len(verdict.lost)} · twice {len(verdict.twice)} ·"
        f" disagreements {len(verdict.disagreements)} · troubles {len(verdict.troubles)} · {spent_s:.0f} s",
        flush=True,
    )
    assert not verdict.faults, "\n".join(verdict.faults[:20])
    assert not supervisor.deaths, "\n".join(supervisor.deaths)


def register(url: str) -> None:
    """Register the agents of the space."""
    ports = connect_inline(parse_store_url(url), ())
    services = Services(ports)
    for name, capacity in zip(NAMES, CAPACITIES, strict=True):
        finish(services.directory.register(name, Card(capacity=capacity), Identity(name)))
    let_talk(services)
    finish(ports.close())
