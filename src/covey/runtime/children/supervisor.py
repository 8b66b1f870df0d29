"""The supervisor: `Launching` with an event loop. It starts children, and watches each until its end."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, ParamSpec

from covey.composition import launcher
from covey.core.errors import LauncherUnavailable
from covey.core.store_url import StoreUrl
from covey.core.work.run import Run, RunId
from covey.engines import engine_of
from covey.ports.children import Child, Errand
from covey.ports.launcher import Launcher
from covey.runtime.children import callables
from covey.runtime.children.callables import start_callable, start_in
from covey.runtime.children.folders import RunFolders, harmless_names
from covey.runtime.children.plugins import EntryPointPlugins
from covey.runtime.children.programs import start_program
from covey.runtime.children.watch import Launched, Watch
from covey.runtime.programs.progress import report
from covey.services.space import Services

P = ParamSpec("P")

Tell = Callable[[RunId, str], None]
"""Called with the progress that a child reports."""

_log = logging.getLogger("covey")


class Supervisor:
    """The supervisor of one open space. Its children end with it."""

    def __init__(
        self, services: Services, url: StoreUrl, plugins: EntryPointPlugins | None = None, tell: Tell | None = None
    ) -> None:
        self._services = services
        self._url = engine_of(url).absolute(url)  # a child may start in another folder
        self._tell = tell
        self._folders = RunFolders(url)
        self._launcher: Launcher | None = None
        self._launched: dict[RunId, tuple[Errand, Launched]] = {}
        """Started errands without a watch yet."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self.plugins = plugins or EntryPointPlugins()

    def place(self, run_id: RunId) -> str:
        return str(self._folders.of(run_id).path)

    async def furnish(self, child: Child) -> None:
        content = self._services.attachments.content
        files = {part.name: await content(part) for part in harmless_names(child.files)}
        if files:
            await _to_its_end(self._folders.make, child.run.id, files, child.cwd)
        else:  # creating three empty folders is faster than a thread
            self._folders.make(child.run.id, files, child.cwd)

    async def launch(self, errand: Errand) -> None:
        self._launched[errand.child.run.id] = errand, await self.start(errand)

    async def abort(self, run: Run, why: str) -> None:
        _, launched = self._launched.pop(run.id, (None, None))
        if launched is not None:
            await launched.stop(why)

    async def clear(self, run: Run) -> bool:
        if run.folder is None:
            return True
        if run.folder != self.place(run.id):
            return False  # from another machine, or from a space at another place: not ours to remove
        for name, folder in await asyncio.to_thread(self._folders.programs, run.id):
            await self._programs().sweep(name, str(folder))
        return await asyncio.to_thread(self._folders.remove, run.id)

    async def watch(self, child: Child) -> None:
        errand, launched = self._launched.pop(child.run.id)
        watch = Watch(self._services.supervision, self, errand._replace(child=child), launched)
        watching = self._begin(watch.keep())
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)
        if child.python is not None and child.python.group is not None:
            # The group waits for the watch, and its cancellation ends the watch. But the watch is not a task of the
            # group: a task that is cancelled before its first step does nothing, and the run has to end.
            start_in(child.python.group, _stand_for(watching), self._begin)
        try:
            await asyncio.sleep(0)  # lets the new tasks take their first step
        except asyncio.CancelledError:  # the caller will never learn of the child
            watching.cancel()
            await asyncio.wait({watching})
            raise

    async def start(self, errand: Errand) -> Launched:
        """Start the callable or the program of an errand."""
        if self._is_closed:
            raise LauncherUnavailable("the space is closed")
        python = errand.child.python
        if python is not None:
            return start_callable(python, errand, self._begin)
        attachments = self._services.attachments
        program = await start_program(errand, self._folders, self._programs(), self._url.with_login(), attachments)
        if (tell := self._tell) is not None:

            async def hand_on(text: str) -> None:
                tell(errand.child.run.id, text)

            self._begin(report(program.lines(), hand_on))
        return program

    async def make_room(self, errand: Errand) -> None:
        """Empty the output of an errand, so that the next one returns only its own files."""
        if errand.child.run.folder is not None:
            await asyncio.to_thread(self._folders.empty_output, errand.child.run.id)

    async def kill(self) -> None:
        """Kill the programs of all children at once, and refuse new ones."""
        self._is_closed = True
        if self._launcher is not None:
            await self._launcher.close()

    async def close(self) -> None:
        """Stop all children, and release all resources."""
        self._is_closed = True
        await asyncio.sleep(0)  # a task that is cancelled before its first step would do nothing
        for task in self._watching:
            task.cancel()
        while self._watching:
            await asyncio.wait(self._watching)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            _, stubborn = await asyncio.wait(self._tasks, timeout=callables.GRACE_S)
            for task in stubborn:
                _log.warning("a child does not let itself be cancelled, and is left alone: %r", task)
        if self._launcher is not None:
            await self._launcher.close()
        await asyncio.to_thread(self._folders.close)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that `close` waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("what watched over a child failed", exc_info=error)

    def _programs(self) -> Launcher:
        if self._launcher is None:
            self._launcher = launcher()
        return self._launcher


async def _stand_for(watching: asyncio.Task[None]) -> None:
    """Represent a task in a group: end with the task, and cancel the task when the group is cancelled."""
    try:
        await asyncio.shield(watching)
    except asyncio.CancelledError:
        watching.cancel()
        await asyncio.wait({watching})
        raise


async def _to_its_end(do: Callable[P, None], *args: P.args, **named: P.kwargs) -> None:
    """Run a function on a thread. A cancelled caller still waits for its end: the thread can't be stopped, and its
    effects must not come after their undoing."""
    doing = asyncio.ensure_future(asyncio.to_thread(do, *args, **named))
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        while not doing.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({doing})
        doing.exception()  # marks the exception as seen
        raise
