"""The client side of a run: the connection to its guardian, the lines of its output, and its result."""

import asyncio
import errno
import json
import os
import signal
import time
from collections import deque
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, Final, cast

from covey.adapters.process.guard import child, protocol
from covey.adapters.process.guard import folder as files
from covey.adapters.process.guard.protocol import ExecCall, Order
from covey.adapters.process.sweep import kill_group, sweep, was_begun
from covey.core.errors import CoveyError, Invalid, LauncherUnavailable, ProgramNotExecutable, ProgramNotFound
from covey.ports.launcher import LINE_LIMIT, EndReason, KeptOutput, OutputLine, Program, ProgramEnd, Stream


def result_of(outcome: files.Outcome, folder: str) -> ProgramEnd:
    """Return the result of an outcome, with the outputs in the folder."""
    values: dict[str, Any] = dict(outcome)
    totals = values["totals"]
    return ProgramEnd(
        ending=EndReason(values["ending"]),
        exit_code=values["exit_code"],
        signal=values["signal"],
        why=values["why"],
        stdout=_kept(folder, files.STDOUT, totals[files.STDOUT]),
        stderr=_kept(folder, files.STDERR, totals[files.STDERR]),
        started_at=datetime.fromtimestamp(values["started_at"], UTC),
        ended_at=datetime.fromtimestamp(values["ended_at"], UTC),
        survivors=tuple(values["survivors"]),
    )


def lost_outcome(folder: str, run: str, started_at: float, now: float) -> files.Outcome:
    """Return the outcome of a run whose guardian was killed: only the outputs are known."""
    totals = {name: len(_content(os.path.join(folder, name))) for name in (files.STDOUT, files.STDERR)}
    return {
        "run": run,
        "ending": EndReason.LOST.value,
        "exit_code": None,
        "signal": None,
        "why": "",
        "totals": totals,
        "started_at": started_at,
        "ended_at": now,
        "survivors": [],
    }


def _kept(folder: str, name: str, total: int) -> KeptOutput:
    path = os.path.join(folder, name)
    return KeptOutput(_content(path), _content(path + files.TAIL), total)


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # no output was kept, or the folder was cleaned up
        return b""


WAITING_LIMIT: Final = 1024 * 1024
"""Limit of unread output in characters; beyond it the oldest lines are dropped."""


class LineQueue:
    """A bounded queue of unread lines."""

    def __init__(self) -> None:
        self._lines: deque[OutputLine] = deque()
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._lines)

    def add(self, line: OutputLine) -> None:
        self._lines.append(line)
        self._size += len(line.text) + 1
        while self._size > WAITING_LIMIT:
            self.take()

    def take(self) -> OutputLine:
        """Remove and return the oldest line."""
        line = self._lines.popleft()
        self._size -= len(line.text) + 1
        return line


class LineSplitter:
    """A splitter of one output stream into lines; its input may be cut anywhere."""

    def __init__(self, stream: Stream, waiting: LineQueue) -> None:
        self._stream: Stream = stream
        self._waiting = waiting
        self._rest = b""

    def feed(self, piece: bytes) -> None:
        """Split the next piece of output."""
        *whole, rest = (self._rest + piece).split(b"\n")
        for line in whole:
            self._add(self._cut(line))
        self._rest = self._cut(rest)

    def flush(self) -> None:
        """Queue an incomplete last line."""
        if self._rest:
            self._add(self._rest)
            self._rest = b""

    def _cut(self, line: bytes) -> bytes:
        """Queue the parts of a line that is too long; return the rest."""
        while len(line) > LINE_LIMIT:
            end = LINE_LIMIT
            while end > LINE_LIMIT - 4 and line[end] & 0xC0 == 0x80:  # within a character of several bytes
                end -= 1
            self._add(line[:end])
            line = line[end:]
        return line

    def _add(self, line: bytes) -> None:
        self._waiting.add(OutputLine(self._stream, line.removesuffix(b"\r").decode("utf-8", "replace")))


_TOO_MUCH = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC)
"""Errors of the system, not of the program."""


def start_error(program: Program, content: bytes) -> CoveyError:
    """Return the error for a guardian's refusal."""
    refusal = json.loads(content)
    what, number = str(refusal["what"]), int(refusal["errno"])
    reason = os.strerror(number)
    command = program.argv[0]
    if what == child.PROCESS or number in _TOO_MUCH:
        return LauncherUnavailable(reason)
    if what == child.CWD:
        return Invalid("cwd", program.cwd, reason)
    if what == child.FOLDER:
        return Invalid("folder", program.folder, "it belongs to another run" if number == errno.EEXIST else reason)
    if what == child.NO_INTERPRETER:
        return ProgramNotExecutable(command, "the interpreter that its first line names is missing")
    if number in (errno.ENOENT, errno.ENOTDIR):
        return ProgramNotFound(command)
    return ProgramNotExecutable(command, reason)


START_S: Final = 30.0
"""Time limit of a start; beyond it the fork server or the guardian hangs."""
STOP_S: Final = 10.0
"""Time beyond the grace period that a guardian has to end a run. After that the guardian is killed, and the run with
it."""


class ProcessRunning(asyncio.Protocol):
    """`Running` over the protocol of a guardian, from the order to the outcome."""

    def __init__(self, program: Program, order: Order, call: ExecCall) -> None:
        self._program = program
        self._order = order
        self._call = call
        self._frames = protocol.Frames()
        self._lines = LineQueue()
        self._splitters = {
            protocol.OUT: LineSplitter("stdout", self._lines),
            protocol.ERR: LineSplitter("stderr", self._lines),
        }
        self._has_news = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._begun: asyncio.Future[CoveyError | None] = loop.create_future()
        """Done when the program runs, was refused, or can't start because its guardian is gone."""
        self.over: asyncio.Future[None] = loop.create_future()
        """Done when the guardian has reported the outcome, or the connection is lost."""
        self._settling = asyncio.Lock()
        self._ended: ProgramEnd | None = None
        self._outcome: files.Outcome | None = None
        self._pid = 0
        self._guardian = 0
        self._started_at = time.time()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(
            protocol.frame(protocol.ORDER, self._order.written()) + protocol.frame(protocol.CALL, self._call.written())
        )
        if self._program.stdin is not None:
            self._transport.write(protocol.frame(protocol.STDIN, self._program.stdin))

    def data_received(self, data: bytes) -> None:
        for kind, content in self._frames.feed(data):
            if kind in self._splitters:
                self._splitters[kind].feed(content)
            elif kind == protocol.GAP:
                self._splitters[content].flush()
            elif kind == protocol.STARTED:
                said = json.loads(content)
                self._pid, self._guardian, self._started_at = said["pid"], said["guardian"], said["started_at"]
                self._begun.set_result(None)
            elif kind == protocol.REFUSED:
                self._begun.set_result(start_error(self._program, content))
            elif kind == protocol.DONE:
                self._outcome = json.loads(content)
                self._finish()
        self._has_news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._finish()
        self._has_news.set()

    def _finish(self) -> None:
        for splitter in self._splitters.values():
            splitter.flush()
        if not self._begun.done():
            self._begun.set_result(None)
        if not self.over.done():
            self.over.set_result(None)
        self._transport.close()

    async def begin(self) -> bool:
        """Wait until the program runs, and tell whether it does. False means that the guardian was killed before the
        start: nothing has run, and nothing can start any more. A cancellation aborts the run."""
        is_late = False
        try:
            async with asyncio.timeout(START_S):
                error = await asyncio.shield(self._begun)
            if error is None and self._pid:
                return True
        except TimeoutError:
            is_late, error = True, None
        except asyncio.CancelledError:
            self.abort()
            raise
        self.abort()
        if error is not None:
            raise error
        if not is_late and not was_begun(self._order.run, self._order.folder):
            return False
        await sweep(self._order.run, self._order.folder)
        raise LauncherUnavailable("the fork server hangs" if is_late else "the guardian of the program was killed")

    def abort(self) -> None:
        """Close the connection at once; the guardian then kills the run."""
        self._transport.abort()

    @property
    def pid(self) -> int:
        return self._pid

    async def lines(self) -> AsyncIterator[OutputLine]:
        while True:
            while self._lines:
                yield self._lines.take()
            if self.over.done():
                return
            self._has_news.clear()
            await self._has_news.wait()

    async def stop(self, why: str = "") -> ProgramEnd:
        return await self._end(protocol.frame(protocol.STOP, why.encode("utf-8", "replace")), self._order.grace)

    async def kill(self) -> ProgramEnd:
        """Kill the run without a grace period."""
        return await self._end(protocol.frame(protocol.KILL), 0.0)

    async def _end(self, word: bytes, grace: float) -> ProgramEnd:
        if not self.over.done():
            self._transport.write(word)
        try:
            async with asyncio.timeout(grace + STOP_S):
                await asyncio.shield(self.over)
        except TimeoutError:
            if self._guardian:
                os.kill(self._guardian, signal.SIGKILL)  # its end of the connection is open, so the process exists
            self.abort()
        return await self.wait()

    async def wait(self) -> ProgramEnd:
        await asyncio.shield(self.over)
        async with self._settling:
            if self._ended is None:
                outcome = self._outcome or self._recorded() or await self._lost()
                self._ended = result_of(outcome, self._order.folder)
        return self._ended

    def _recorded(self) -> files.Outcome | None:
        """Return the outcome that a guardian recorded but could not report."""
        return files.recorded(self._order.folder)

    async def _lost(self) -> files.Outcome:
        """Clean up after a killed guardian, and record that the run's result is lost."""
        if self._pid:
            kill_group(self._pid)
        await sweep(self._order.run, self._order.folder)
        outcome = lost_outcome(self._order.folder, self._order.run, self._started_at, time.time())
        files.record(self._order.folder, outcome)
        return outcome
