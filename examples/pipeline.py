"""Pipeline: each piece of work goes through stages, one agent for each, and the stages work at the same time.

    python examples/pipeline.py

The stages are on duty: they take tasks as they arrive. The lead hands each item on from stage to stage and so sees
every step. An item that fails leaves the pipeline there, and the other items go on. The stages could be separate
processes: `covey work draft --run …` does the same with a program.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import covey

ITEMS = ("how locks work", "why we use tabs", "what a lease is")


async def draft(task: covey.Assignment) -> str:
    """Stand for a model that writes. A real call goes here, with task.text."""
    await task.progress("writing")
    return f"{task.text}: locks and leases end with their process."


async def check(task: covey.Assignment) -> str | covey.Failure:
    """Stand for a model that checks. The returned text is the result; a Failure says why there is none."""
    if "tabs" in task.text:
        return covey.Failure("we do not use tabs")
    return task.text


async def polish(task: covey.Assignment) -> str:
    """Stand for a model that edits."""
    return task.text[0].upper() + task.text[1:]


STAGES: dict[str, Callable[[covey.Assignment], Awaitable[covey.Failure | str]]] = {
    "draft": draft,
    "check": check,
    "polish": polish,
}


async def through(lead: covey.Member, item: str) -> str:
    """Take one item through all stages and return a line about its outcome."""
    text = item
    for stage in STAGES:
        task = await lead.delegate(stage, text, scope=item.replace(" ", "-"))
        result = await task.result(timeout=30)
        if task.state != "completed" or result is None:
            return f"{item} → {task.state} at {stage}: {task.reason or 'no result yet'}"
        text = result.text
    return f"{item} → {text}"


async def pipeline(folder: Path) -> None:
    """Put the stages on duty, send all items through, and stop the stages."""
    async with covey.open(f"sqlite:{folder}/covey.db") as space:
        # Each stage works on one task at a time; further tasks wait in its queue.
        members = {name: await space.join(name, card=covey.Card(quota=1)) for name in STAGES}
        workers = [members[name].worker(handler) for name, handler in STAGES.items()]
        lead = await space.join("lead")
        async with asyncio.TaskGroup() as group:
            for worker in workers:
                group.create_task(worker.run())
            for line in await asyncio.gather(*(through(lead, item) for item in ITEMS)):
                print(line)
            for worker in workers:
                worker.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(pipeline(Path(name)))
