"""A worker: a process with an open space in which one or more agents live until the process is killed."""

import asyncio
import json
import os
import time
import traceback
from pathlib import Path
from random import Random
from typing import NamedTuple, Self

import covey
from covey.engines import connect_inline, engine_of, parse_store_url
from covey.services.care.prune import Prune
from covey.services.space import Services
from tests.chaos.diary import Diary, Trouble
from tests.chaos.life import NAMES, Life
from tests.chaos.where import tell_where
from tests.properties.world import finish

LONGEST_PAUSE_S = 0.004
"""Between two operations of a life: short, so that most kills hit a running operation."""


class Worker(NamedTuple):
    """The parameters of a worker."""

    url: str
    diary: str
    seed: int
    lives: int
    """Number of agents that share its commits; 0 for one agent without an event loop, as in a hook."""
    pause_s: float = LONGEST_PAUSE_S
    """The longest pause of a life between two operations."""

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(*json.loads(text))


def where_file(diary: Path) -> Path:
    """Return the file to which a worker writes its stacks when it gets the signal."""
    return diary.parent.parent / f"where-{diary.name}"


def run(text: str) -> None:
    """Run the worker that a text describes."""
    work(Worker.parse(text))


def work(worker: Worker) -> None:
    """Run until an error occurs or the zygote is gone."""
    diary = Diary(Path(worker.diary))
    tell_where(where_file(Path(worker.diary)))
    try:
        if worker.lives:
            asyncio.run(_live_together(worker, diary))
        else:
            _live_alone(worker, diary)
    except BaseException:
        diary.trouble(Trouble(traceback.format_exc()))
        raise


async def _live_together(worker: Worker, diary: Diary) -> None:
    """Run as a program does: with an event loop and the store's threads."""
    parent = os.getppid()

    async def live(life: Life, random: Random) -> None:
        await life.begin()
        while os.getppid() == parent:
            await life.step()
            await asyncio.sleep(random.uniform(0, worker.pause_s))

    async with covey.open(worker.url) as space, asyncio.TaskGroup() as group:
        for number in range(worker.lives):
            random = Random(worker.seed + number)
            life = Life(space.services, random.choice(NAMES), random, diary, _prune(worker, space.services))
            group.create_task(live(life, random))


def _live_alone(worker: Worker, diary: Diary) -> None:
    """Run as a command does: in one thread."""
    parent = os.getppid()
    random = Random(worker.seed)
    services = Services(connect_inline(parse_store_url(worker.url), ()))
    life = Life(services, random.choice(NAMES), random, diary, _prune(worker, services))
    finish(life.begin())
    while os.getppid() == parent:
        finish(life.step())
        time.sleep(random.uniform(0, worker.pause_s))


def _prune(worker: Worker, services: Services) -> Prune:
    url = parse_store_url(worker.url)
    blobs, pages = engine_of(url).care.upkeep(url)
    finish(blobs.digests())  # connects now, because the servers may be down when pruning starts
    return services.prune(blobs, pages)
