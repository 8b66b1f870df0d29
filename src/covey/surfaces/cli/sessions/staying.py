"""Attended children: a child is started in this process, watched until its end, and stopped by Ctrl-C."""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from threading import current_thread, main_thread
from typing import Final, NamedTuple

from covey.core.errors import CoveyError, WaitCircle
from covey.core.identity import Identity
from covey.core.limits import RUN_PACE
from covey.core.work.run import Run, RunId, RunMode, run_topic
from covey.engines import connect, engine_of
from covey.runtime.children.supervisor import Supervisor, Tell
from covey.services.children.request import SpawnRequest
from covey.services.children.spawning import RunResult
from covey.services.space import Services
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.sessions.ending import show_answer
from covey.surfaces.cli.terminal.letters import fitted, one_line, printable
from covey.surfaces.cli.terminal.moments import moment
from covey.surfaces.cli.terminal.output import Output, columns
from covey.surfaces.cli.terminal.ticking import ticking

INTERRUPTED: Final = "who started it was interrupted"
STOPPING: Final = "Stopping it: what it made so far is its result. Once more kills it."
_LONG_S: Final = 3600.0


class Stayed(NamedTuple):
    run: Run
    result: RunResult | None
    is_interrupted: bool


def stay(
    call: Call, wish: SpawnRequest, actor: Identity, started: Callable[[Run], None], *, takes_result: bool = True
) -> Stayed:
    """Start a child and return when it has ended.

    Before the child runs, Ctrl-C or SIGTERM raises KeyboardInterrupt and leaves nothing behind. Later the first signal
    stops the child, and a second one kills it. The child's answer is taken here, or left for the inbox of the actor.
    """
    staying = _Staying(call, wish, actor, started, takes_result)
    try:
        return asyncio.run(staying.stay())
    except asyncio.CancelledError:
        if staying.signals:
            raise KeyboardInterrupt from None
        raise


class _Staying:
    def __init__(
        self, call: Call, wish: SpawnRequest, actor: Identity, started: Callable[[Run], None], takes_result: bool
    ) -> None:
        self._takes_result = takes_result
        self._call = call
        self._wish = wish
        self._actor = actor
        self._started = started
        self._line = _LiveLine(call.output)
        self.signals = 0

    async def stay(self) -> Stayed:
        async with _supervised(self._call, self._line.tell) as (services, supervisor):
            starting = asyncio.current_task()

            def give_up() -> None:
                self.signals += 1
                if starting is not None and self.signals == 1:
                    starting.cancel()

            _on_signals(give_up)
            run = await services.spawning.spawn(self._wish, self._actor)
            self._started(run)
            self._line.begin()
            async with asyncio.TaskGroup() as group:

                def end() -> None:
                    self.signals += 1
                    if self.signals <= 2:
                        group.create_task(self._end(services, supervisor, run.id, self.signals > 1))

                _on_signals(end)
                return await self._accompany(services, run)

    async def _accompany(self, services: Services, run: Run) -> Stayed:
        try:
            async with ticking(self._line.draw, sys.stderr.isatty() and not self._call.output.as_json):
                result = await self._answered(services, run) if self._takes_result else None
                if result is not None and run.mode is RunMode.SESSION and not self._call.output.as_json:
                    self._line.clear()
                    show_answer(self._call, result)
                ended = await _ended(services, run.id)
        finally:
            self._line.clear()
        return Stayed(ended, result, bool(self.signals))

    async def _answered(self, services: Services, run: Run) -> RunResult:
        """Wait for the answer.

        If the child itself waits for the actor, say so: a person may answer from another terminal.
        """
        is_circle = False
        while True:
            try:
                found = await services.spawning.result(run.id, self._actor, _LONG_S, answers_meanwhile=is_circle)
            except WaitCircle:
                is_circle, who = True, self._actor.agent
                self._line.clear()
                self._call.output.step(f"It waits for {who}. Answer it from elsewhere: covey owed {who}")
                continue
            if found is not None:
                return found

    async def _end(self, services: Services, supervisor: Supervisor, run_id: RunId, is_at_once: bool) -> None:
        """Stop the child, or kill it after a second signal."""
        self._line.clear()
        if is_at_once:
            await supervisor.kill()
            return
        self._call.output.step(STOPPING)
        try:
            await services.spawning.stop(run_id, self._actor, INTERRUPTED, 0)
        except CoveyError:  # the store is unavailable: the child must end all the same
            await supervisor.kill()


class _LiveLine:
    """The running time of a child on one line that is redrawn in place. Progress reports stay above it."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._since: float | None = None
        self._early: list[str] = []
        """Progress lines that came before the child was reported as started."""
        self._said = ""

    def begin(self) -> None:
        """Start the clock, and show the progress lines that came before."""
        self._since = asyncio.get_running_loop().time()
        for line in self._early:
            self._output.step(line)

    def tell(self, run_id: RunId, text: str) -> None:
        """Show a child's report of its progress."""
        del run_id
        self._said = one_line(text)
        line = moment(datetime.now(UTC), "progress", text)
        if self._since is None:
            self._early.append(line)
        else:
            self.clear()
            self._output.step(line)

    def draw(self) -> None:
        now = asyncio.get_running_loop().time()
        spent = int(now - (self._since or now))
        line = f"running · {spent // 60}:{spent % 60:02}{f' · {self._said}' if self._said else ''}"
        self._output.status(fitted(printable(line), columns() - 1))

    def clear(self) -> None:
        self._output.status("")


@asynccontextmanager
async def _supervised(call: Call, tell: Tell) -> AsyncGenerator[tuple[Services, Supervisor]]:
    """Open the space with a supervisor. Its children end with the block."""
    url = engine_of(call.url).absolute(call.url)
    ports = connect(url, ["."])
    try:
        services = Services(ports, launching=lambda _: supervisor)
        supervisor = Supervisor(services, url, tell=tell)
        try:
            await services.upkeep.tend()  # report children of killed processes before new ones start
            yield call.narrow(services), supervisor
        finally:
            await supervisor.close()
    finally:
        await ports.close()


def _on_signals(call: Callable[[], None]) -> None:
    """Call a function at Ctrl-C and SIGTERM, unless the process ignores these signals."""
    if current_thread() is not main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, call)


async def _ended(services: Services, run_id: RunId) -> Run:
    """Wait for the end of a run: a child that has answered may still be at work."""

    async def look() -> Run | None:
        run = await services.spawning.run(run_id)
        return run if run.has_ended else None

    while (found := await services.waiting.until([run_topic(run_id)], look, _LONG_S, RUN_PACE)) is None:
        pass
    return found
