"""Actions of a member that is cancelled, and the invariants after it."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import covey
from covey.core.directory.session import Session
from covey.core.ledger.waits import Wait
from covey.core.names import AgentName, MessageId, inbox_topic
from covey.core.work.task import TaskState
from covey.ports.store import Transaction

LEAD, WORKER = "lead", "worker"
LIMIT_S = 10.0

Scene = Callable[[covey.Member], Awaitable[None]]


async def only_join(_: covey.Member) -> None:
    """Do nothing after joining."""


async def read_and_write(me: covey.Member) -> None:
    await me.send(LEAD, "hello")
    mail = await me.inbox.next(LIMIT_S)
    assert mail is not None
    await mail.reply("got it")
    await me.set_busy()


async def take_a_turn(me: covey.Member) -> None:
    async with me.turn() as turn:
        turn.text()
        turn.responded("response-1")


async def offer(me: covey.Member) -> None:
    showing = await me.offer("turn-1")
    assert showing is not None
    await me.confirm(showing.offer.id, "witnessed", "response-1")


async def only_offer(me: covey.Member) -> None:
    assert await me.offer("turn-1") is not None


async def ask(me: covey.Member) -> None:
    outcome = await me.ask(LEAD, "Shall I?", timeout=LIMIT_S)
    assert outcome.answer is not None


async def take_a_task(me: covey.Member) -> None:
    task = await me.take(timeout=LIMIT_S)
    assert task is not None
    await task.start()
    await task.complete("done")


async def judge_a_task(me: covey.Member) -> None:
    async def judgement(_: covey.Assignment) -> bool:
        await asyncio.sleep(0)
        return True

    task = await me.take(timeout=LIMIT_S, judgement=judgement)
    assert task is not None
    await task.start()
    await task.complete("done")


async def only_take(me: covey.Member) -> None:
    assert await me.take(timeout=LIMIT_S) is not None


async def only_take_judged(me: covey.Member) -> None:
    async def judgement(_: covey.Assignment) -> bool:
        await asyncio.sleep(0)
        return True

    assert await me.take(timeout=LIMIT_S, judgement=judgement) is not None


async def work(me: covey.Member) -> None:
    async def handler(_: covey.Assignment) -> str:
        await asyncio.sleep(0)
        return "done"

    await me.work(handler, until_idle=True)


async def spawn(me: covey.Member) -> None:
    async def child(_: covey.Errand) -> str:
        return "done"

    spawned = await me.spawn("do it", run=child)
    await spawned.result(timeout=LIMIT_S)


async def delegate(me: covey.Member) -> None:
    task = await me.delegate(LEAD, "do it")
    await task.result(timeout=0)
    await task.cancel()


async def say(me: covey.Member) -> None:
    await me.say("the-lead", "hello", timeout=0)


SCENES: dict[str, Scene] = {
    scene.__name__: scene
    for scene in (
        only_join,
        read_and_write,
        take_a_turn,
        offer,
        ask,
        take_a_task,
        judge_a_task,
        work,
        spawn,
        delegate,
        say,
    )
}


class World:
    """A space with a lead that stays, while members are cancelled."""

    def __init__(self, space: covey.Space, lead: covey.Member) -> None:
        self.space = space
        self.lead = lead
        self._mail: list[MessageId] = []
        self._tasks: list[covey.Delegated] = []

    async def prepare(self, *, with_task: bool = True) -> None:
        """Send the mail and the task for the next life."""
        self._mail.append((await self.lead.send(WORKER, "some mail")).message_id)
        if with_task:
            self._tasks.append(await self.lead.delegate(WORKER, "some work"))

    async def check(self) -> None:
        """Check that no session of the worker is left, and that its mail was seen or waits for its next session."""
        until = time.monotonic() + LIMIT_S
        while left := await self._left():  # children end by themselves
            assert time.monotonic() < until, f"nobody ends these: {left}"
            await asyncio.sleep(0.002)
        async with covey.open(self.space.url) if self._is_shared else _as_it_is(self.space) as space:
            me = await space.join(WORKER)
            await self.check_again(me)
            await me.leave()

    async def check_again(self, me: covey.Member) -> None:
        """Check that the worker's mail and tasks were seen, or are available to this session at once."""
        async with me.turn(task="") as turn:  # claims no tasks
            shown = {letter.message_id for letter in turn.pending.letters}
            turn.text()
            turn.responded("response-2")
        await self._check_mail(shown)
        await self._check_tasks(me)
        for member in (me, self.lead):
            for item in await member.inbox.peek():
                await item.dismiss()
        self._mail.clear()
        self._tasks.clear()

    async def check_no_waits(self, place: str) -> None:
        """Check that no wait of the worker is left."""
        until = time.monotonic() + LIMIT_S
        while left := [each for each in await self._left() if isinstance(each, Wait)]:
            assert time.monotonic() < until, f"{place}: {left}"
            await asyncio.sleep(0.002)

    async def check_answered(self, me: covey.Member, question: MessageId) -> None:
        """Check that the answer to an accepted question arrives in the inbox.

        If the ask took the answer before the cancellation, the ticket still has it.
        """
        try:
            await self.space.receipt(question)
        except covey.NotFound:
            return
        answer = await me.inbox.next(timeout=0)
        if answer is None:
            outcome = await me.resume(f"{question}@{LEAD}", timeout=LIMIT_S)
            assert outcome.answer is not None
            assert await me.inbox.next(timeout=0) is None
        else:
            assert answer.message.in_reply_to == question
            await answer.dismiss()

    @property
    def _is_shared(self) -> bool:
        return not self.space.url.startswith("memory")

    async def _left(self) -> list[Session | Wait]:
        """Return the worker's sessions that have not ended, and its waits."""

        async def operation(tx: Transaction) -> list[Session | Wait]:
            sessions = [session for session in await tx.sessions.current() if session.agent == WORKER]
            return [*sessions, *await tx.waits.of(AgentName(WORKER))]

        return await self.space.services._ports.store.read(operation)  # pyright: ignore[reportPrivateUsage]

    async def _check_mail(self, shown: set[MessageId]) -> None:
        for message_id in self._mail:
            receipt = await self.space.receipt(message_id)
            (copy,) = receipt.deliveries
            assert message_id in shown or copy.state in ("in_context", "handled"), (message_id, copy)

    async def _check_tasks(self, me: covey.Member) -> None:
        """Check that each task is finished, or can be taken at once."""
        while (task := await me.take(timeout=0, start=True)) is not None:
            await task.complete("done")
        for task in self._tasks:
            assert (await task.refresh()).state in (TaskState.COMPLETED, TaskState.FAILED), task


@asynccontextmanager
async def _as_it_is(space: covey.Space) -> AsyncGenerator[covey.Space]:
    yield space


@asynccontextmanager
async def world(url: str) -> AsyncGenerator[World]:
    """Open a space with a lead that answers every question."""
    async with covey.open(url) as space, asyncio.TaskGroup() as group:
        lead = await space.join(LEAD, label="the-lead")
        await (await space.join(WORKER)).leave()  # so that mail for the worker is accepted

        async def answer() -> None:
            async for item in lead.inbox:
                if item.message.expects_reply:
                    await item.reply("yes")

        await _lengthen_the_log(lead)
        if not url.startswith("memory:"):  # no other process can open a space in memory
            await _ring_somebody(url, lead)
        answering = group.create_task(answer())
        yield World(space, lead)
        answering.cancel()


async def _ring_somebody(url: str, lead: covey.Member) -> None:
    """Let the lead's space ring another space that listens. The socket for it stays open, and is no leak."""
    async with covey.open(url) as other:
        peer = await other.join("peer")
        ports = other.services._ports  # pyright: ignore[reportPrivateUsage] # the listener must certainly exist
        async with ports.wakeups.listen([inbox_topic(peer.session.inbox)]):
            receipt = await lead.send("peer", "can you hear me?")
        await peer.dismiss(receipt.message_id)
        await peer.leave()


async def _lengthen_the_log(lead: covey.Member) -> None:
    """Write enough that resources which a store opens with its first long log exist, and do not look like a leak."""
    for _ in range(30):
        await lead.send(LEAD, "x" * 100_000)
    for item in await lead.inbox.peek():
        await item.dismiss()


class Resources:
    """Threads and descriptors of this process."""

    def __init__(self) -> None:
        self._threads = len(_threads())
        self._descriptors = _descriptors()

    def check(self, where: str, *, open_elsewhere: str = "") -> None:
        """Check that there are no more threads and descriptors than at the beginning, once ending threads are gone.

        SQLite closes a database that is open elsewhere in the process only when that is closed too, and so may keep
        some descriptors.
        """
        until = time.monotonic() + LIMIT_S
        while len(_threads()) > self._threads or self._more(open_elsewhere) > 0:
            assert time.monotonic() < until, (where, _threads(), _descriptors() - self._descriptors)
            time.sleep(0.002)

    def _more(self, ignored: str) -> int:
        now, then = ([path for _, path in found if path != ignored] for found in (_descriptors(), self._descriptors))
        return len(now) - len(then)


def _threads() -> list[str]:
    """Return the names of all threads except those that an event loop keeps for `asyncio.to_thread`."""
    return [thread.name for thread in threading.enumerate() if not thread.name.startswith("asyncio_")]


def _descriptors() -> set[tuple[str, str]]:
    found = set[tuple[str, str]]()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the descriptor of the listing itself
            found.add((link.name, str(link.readlink())))
    return found
