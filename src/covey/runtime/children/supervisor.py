"""The supervisor: `Launching` with an event loop. It starts children, and watches each until the end of its run."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, ParamSpec, Protocol, TypeVar

from covey.composition import launcher
from covey.core.errors import CoveyError, LauncherUnavailable, Rejected
from covey.core.ledger.message import Message
from covey.core.store_url import StoreUrl
from covey.core.work.run import Run, RunId, RunMode, RunState
from covey.engines import engine_of
from covey.ports.children import Child, ChildEvent, ChildResult, ChildWork, Launching
from covey.ports.launcher import Launcher
from covey.runtime.children import launchers
from covey.runtime.children.launchers import start_callable, start_in, start_program
from covey.runtime.children.plugins import EntryPointPlugins
from covey.runtime.programs.folders import RunFolders, harmless_names
from covey.runtime.programs.output import report
from covey.runtime.retry import retried
from covey.services.children.supervision import EndRequest, Supervision
from covey.services.space import Services

MOST_SAID: Final = 200
"""Limit of the earlier messages of its conversation that a child is shown again."""
CLOSED: Final = "the process that started it has closed the space"

T = TypeVar("T")
_log = logging.getLogger("covey")


class RunningErrand(Protocol):
    """The running program or callable of an errand."""

    async def wait(self) -> ChildResult:
        """Return the product. A cancellation leaves the errand running."""
        ...

    async def stop(self, why: str) -> ChildResult:
        """End the errand, and return the product, within a bounded time."""
        ...


class ErrandStarter(Launching, Protocol):
    """`Launching` as a watch needs it, to start the next errand of a child."""

    async def start(self, errand: ChildWork) -> RunningErrand: ...
    async def make_room(self, errand: ChildWork) -> None: ...


class ChildWatch:
    """The watch over one child. The run always ends: with its program, on request, or with the work of this process."""

    def __init__(
        self, supervision: Supervision, launching: ErrandStarter, errand: ChildWork, launched: RunningErrand
    ) -> None:
        self._supervision = supervision
        self._launching = launching
        self._errand = errand
        self._launched: RunningErrand | None = launched
        self._run = errand.child.run

    async def keep(self) -> None:
        """Watch until the run has ended. A cancellation stops the child."""
        try:
            product = await self._accompany()
        except asyncio.CancelledError:
            await _surely(self._break_off())
            raise
        await _surely(self._finish(product))

    async def _break_off(self) -> None:
        """Stop the child, because this process leaves the space."""
        product = ChildResult(RunState.STOPPED, reason=CLOSED)
        if self._launched is not None:
            product = await self._launched.stop(CLOSED)
            if self._errand.number > 1:
                await self._hand_in(product)
        await self._finish(product)

    async def _accompany(self) -> ChildResult:
        """Return the final product of the child: after its one errand, or, for a session, after a request to stop."""
        said: list[Message] = []
        product = await self._do()
        while self._run.mode is RunMode.SESSION:
            answer = await self._hand_in(product)
            said = [*said, self._errand.message, *([answer] if answer is not None else [])][-MOST_SAID:]
            await self._launching.make_room(self._errand)
            following = await self._following(said)
            if isinstance(following, EndRequest):
                return ChildResult(RunState.STOPPED, reason=following.why)
            self._errand = following
            try:
                self._launched = await self._launching.start(following)
            except CoveyError as error:
                product = ChildResult(RunState.FAILED, reason=error.message)
            else:
                product = await self._do()
        return product

    async def _do(self) -> ChildResult:
        """Return the product of the errand, which is stopped on a request to end the run."""
        launched = self._launched
        if launched is None:
            raise RuntimeError("nothing was started")
        waiting = asyncio.ensure_future(launched.wait())
        wanted = asyncio.ensure_future(_steadily(lambda: self._supervision.until_wanted_over(self._run.id)))
        try:
            await asyncio.wait({waiting, wanted}, return_when=asyncio.FIRST_COMPLETED)
            product = waiting.result() if waiting.done() else await launched.stop(wanted.result().why)
        finally:
            for future in (waiting, wanted):
                future.cancel()
            await asyncio.wait({waiting, wanted})
        self._launched = None
        return product

    async def _following(self, said: list[Message]) -> ChildWork | EndRequest:
        child, number = self._errand.child, self._errand.number + 1
        return await _steadily(lambda: self._supervision.next_errand(child, number, said))

    async def _hand_in(self, product: ChildResult) -> Message | None:
        errand = self._errand
        try:
            return await _steadily(lambda: self._supervision.hand_in(errand, product))
        except Rejected as error:
            unfit = _unfit(product, error)
        return await _steadily(lambda: self._supervision.hand_in(errand, unfit))

    async def _finish(self, product: ChildResult) -> None:
        """Record the end of the run, clean up its folder, and notify the plugins."""
        try:
            ended = await _steadily(lambda: self._supervision.end(self._run.id, product))
        except Rejected as error:
            unfit = _unfit(product, error)
            ended = await _steadily(lambda: self._supervision.end(self._run.id, unfit))
        with suppress(CoveyError):  # the next upkeep of the space does it
            await self._supervision.clear(ended, self._launching)
        if ended.state is not RunState.LOST:
            is_well = ended.state in (RunState.COMPLETED, RunState.STOPPED)
            await self._launching.plugins.tell(ChildEvent.ENDED if is_well else ChildEvent.FAILED, ended)


def _unfit(product: ChildResult, error: Rejected) -> ChildResult:
    """Return a replacement for a product that is refused, for example because it is too large."""
    text = f"Its result can't be handed in: {error.message}."
    return ChildResult(product.state, f"{product.reason}\n\n{text}".strip(), reason=product.reason)


async def _surely(work: Coroutine[Any, Any, None]) -> None:
    """Complete the work even if the caller is cancelled: without its end, the run would count as lost."""
    doing = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not doing.done():
        try:
            await asyncio.wait({doing})
        except asyncio.CancelledError as error:
            cancelled = error
    doing.result()
    if cancelled is not None:
        raise cancelled


async def _steadily(call: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `call`, with retries while the store is unavailable; each failure is logged."""
    return await retried(call, lambda message: _log.warning("supervising children: %s", message))


P = ParamSpec("P")

Tell = Callable[[RunId, str], None]
"""Called with the progress that a child reports."""


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
        self._launched: dict[RunId, tuple[ChildWork, RunningErrand]] = {}
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

    async def launch(self, errand: ChildWork) -> None:
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
        watch = ChildWatch(self._services.supervision, self, errand._replace(child=child), launched)
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

    async def start(self, errand: ChildWork) -> RunningErrand:
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

    async def make_room(self, errand: ChildWork) -> None:
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
            _, stubborn = await asyncio.wait(self._tasks, timeout=launchers.GRACE_S)
            for task in stubborn:
                _log.warning("a child ignored its cancellation and was abandoned: %r", task)
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
            _log.error("the supervision of a child failed", exc_info=error)

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
