"""A worker: a process with the space open, in which one or more agents live until it is killed."""

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
"""Between two things that a life does: short, so that most kills hit something that is going on."""


class Worker(NamedTuple):
    """How a worker is to be."""

    url: str
    diary: str
    seed: int
    lives: int
    """How many agents live in it at once, sharing its commits; 0 for one agent without an event loop, as in a hook."""
    pause_s: float = LONGEST_PAUSE_S
    """How long a life rests between two things at most."""

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(*json.loads(text))


def where_file(diary: Path) -> Path:
    """Return where a worker writes what it is at, when it is asked."""
    return diary.parent.parent / f"where-{diary.name}"


def run(text: str) -> None:
    """Be the worker that a text describes."""
    work(Worker.parse(text))


def work(worker: Worker) -> None:
    """Live until something goes wrong, or the zygote is gone."""
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
    """As a program: with an event loop and the store's threads."""
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
    """As a command: everything in one thread."""
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
    finish(blobs.digests())  # so that it is connected where it has to be: in a moment there may be nobody to connect to
    return services.prune(blobs, pages)
