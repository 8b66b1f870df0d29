"""Children of a simulated process: they exist, and do nothing until a test decides their outcome."""

from covey.core.work.run import Run, RunId
from covey.ports.children import Child, ChildEvent, ChildWork


class NoPlugins:
    are_there = False

    async def tell(self, moment: ChildEvent, run: Run) -> None:
        del moment, run


class Nursery:
    """`Launching` without programs or folders."""

    plugins = NoPlugins()

    def place(self, run_id: RunId) -> str:
        return f"/runs/{run_id}"

    async def furnish(self, child: Child) -> None:
        del child

    async def launch(self, errand: ChildWork) -> None:
        del errand

    async def abort(self, run: Run, why: str) -> None:
        del run, why

    async def clear(self, run: Run) -> bool:
        del run
        return True

    async def watch(self, child: Child) -> None:
        del child
