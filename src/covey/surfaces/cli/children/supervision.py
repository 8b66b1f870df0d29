"""Supervision of a child: in this process until the child ends, or by a process in the background."""

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from threading import current_thread, main_thread
from typing import Final, NamedTuple

from covey.core.errors import CoveyError, LauncherUnavailable, WaitCircle
from covey.core.identity import Identity
from covey.core.limits import RUN_PACE
from covey.core.work.run import Run, RunId, RunMode, parse_run_id, run_topic
from covey.engines import engine_of
from covey.runtime.open_space import OpenSpace
from covey.services.children.request import SpawnRequest
from covey.services.children.spawning import RunResult
from covey.services.space import Services
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.children.runs import show_answer
from covey.surfaces.cli.exits import exit_code
from covey.surfaces.cli.live import ticking
from covey.surfaces.cli.terminal.layout import event_line
from covey.surfaces.cli.terminal.output import Output, columns
from covey.surfaces.cli.terminal.text import fitted, one_line, printable

INTERRUPT_REASON: Final = "who started it was interrupted"
STOPPING: Final = "Stopping it: what it made so far is its result. Once more kills it."
_LONG_S: Final = 3600.0


class AttendedRun(NamedTuple):
    run: Run
    result: RunResult | None
    is_interrupted: bool


def attend(
    call: Call, wish: SpawnRequest, actor: Identity, started: Callable[[Run], None], *, takes_result: bool = True
) -> AttendedRun:
    """Start a child and return when it has ended.

    Before the child runs, Ctrl-C or SIGTERM raises KeyboardInterrupt and leaves nothing behind. Later the first signal
    stops the child, and a second one kills it. The child's answer is taken here, or left for the inbox of the actor.
    """
    attendance = _Attendance(call, wish, actor, started, takes_result)
    try:
        return asyncio.run(attendance.attend())
    except asyncio.CancelledError:
        if attendance.signals:
            raise KeyboardInterrupt from None
        raise


class _Attendance:
    def __init__(
        self, call: Call, wish: SpawnRequest, actor: Identity, started: Callable[[Run], None], takes_result: bool
    ) -> None:
        self._takes_result = takes_result
        self._call = call
        self._wish = wish
        self._actor = actor
        self._started = started
        self._line = _ChildStatusLine(call.output)
        self.signals = 0

    async def attend(self) -> AttendedRun:
        url = engine_of(self._call.url).absolute(self._call.url)
        async with OpenSpace(url, ["."], tell=self._line.tell) as space:
            await space.services.upkeep.tend()  # report children of killed processes before new ones start
            services = self._call.narrow(space.services)
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
                        group.create_task(self._end(services, space, run.id, self.signals > 1))

                _on_signals(end)
                return await self._accompany(services, run)

    async def _accompany(self, services: Services, run: Run) -> AttendedRun:
        try:
            async with ticking(self._line.draw, sys.stderr.isatty() and not self._call.output.as_json):
                result = await self._answered(services, run) if self._takes_result else None
                if result is not None and run.mode is RunMode.SESSION and not self._call.output.as_json:
                    self._line.clear()
                    show_answer(self._call, result)
                ended = await _ended(services, run.id)
        finally:
            self._line.clear()
        return AttendedRun(ended, result, bool(self.signals))

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

    async def _end(self, services: Services, space: OpenSpace, run_id: RunId, is_at_once: bool) -> None:
        """Stop the child, or kill it after a second signal."""
        self._line.clear()
        if is_at_once:
            await space.kill_children()
            return
        self._call.output.step(STOPPING)
        try:
            await services.spawning.stop(run_id, self._actor, INTERRUPT_REASON, 0)
        except CoveyError:  # the store is unavailable: the child must end all the same
            await space.kill_children()


class _ChildStatusLine:
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
        line = event_line(datetime.now(UTC), "progress", text)
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


class BackgroundFailed(Exception):
    """The child was not started, and the reason has been shown."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def start_in_background(call: Call, words: Sequence[str], task: str) -> RunId:
    """Have a process in the background start a child, and return its run.

    If that fails, the error is shown and Failed is raised.
    """
    hearing, telling = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "covey", *words, "--supervise", str(telling)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(telling,),
            start_new_session=True,
            # Not among the arguments, which every user of the machine can read: the URL may have a login.
            env={**os.environ, "COVEY_STORE": engine_of(call.url).absolute(call.url).with_login()},
        )
    except OSError as error:
        os.close(hearing)
        raise LauncherUnavailable(error.strerror or str(error)) from error
    finally:
        os.close(telling)
    assert process.stdin is not None
    with open(hearing) as pipe:  # noqa: PTH123 - it is a descriptor
        try:
            process.stdin.write(task.encode(errors="replace"))
            process.stdin.close()
        except BrokenPipeError:
            pass  # the process has ended already; the pipe has the reason, if there is one
        try:
            told = pipe.read()
        except KeyboardInterrupt:
            process.terminate()  # Ctrl-C does not reach the process; when terminated, it undoes its work so far
            raise
    if not told:
        raise LauncherUnavailable(f"what was to watch over the child has ended, with exit code {process.wait()}")
    said = json.loads(told)
    if "run" in said:
        process.returncode = 0  # the process outlives this command; with a return code set, Popen does not warn of it
        return parse_run_id(said["run"])
    if call.output.as_json:
        call.output.json(json.loads(said["out"]))
    else:
        call.output.note(said["err"].rstrip("\n"))
    raise BackgroundFailed(said["code"])


def reporter(descriptor: int) -> Callable[[RunId], None]:
    """Return a function that reports the started child, for the process in the background."""
    os.set_inheritable(descriptor, False)
    return lambda run_id: _tell(descriptor, {"run": run_id})


def report_failure(descriptor: int, error: CoveyError, as_json: bool) -> int:
    """Report why no child was started, in the output format of the caller. Return the exit code."""
    out, err = io.StringIO(), io.StringIO()
    Output(as_json, out, err).error(error)
    _tell(descriptor, {"code": exit_code(error), "out": out.getvalue(), "err": err.getvalue()})
    return exit_code(error)


def _tell(descriptor: int, said: dict[str, object]) -> None:
    with open(descriptor, "w") as pipe:
        pipe.write(json.dumps(said))
