"""Loops in which agents keep each other busy, as generators of single steps."""

from collections.abc import AsyncIterator, Callable, Mapping
from itertools import count, cycle
from typing import Final

from covey.core.errors import ExchangeStorm, ProgressStorm
from covey.core.json import Json
from covey.surfaces.python.member import Member
from tests.scenarios.tools import use
from tests.scenarios.world import World

Loop = Callable[[World], AsyncIterator[None]]
"""A loop that runs until a message is refused, which raises."""

STORMS: Final = (ExchangeStorm, ProgressStorm)


class Refused(Exception):
    """The error for a tool call that was refused."""


async def tool(member: Member, toolkit: str, name: str, **arguments: Json) -> None:
    """Call a tool as a model does. Raise `Refused` if the tool refuses."""
    answer = await use(member, toolkit, name, **arguments)
    if answer.is_error:
        raise Refused(answer.text)


async def plain_sends(world: World) -> AsyncIterator[None]:
    alice, bob = await world.join("alice", "bob")
    for n in count():
        sender, to = (alice, "bob") if n % 2 else (bob, "alice")
        await sender.send(to, f"step {n}")
        yield


async def sends_after_turns(world: World) -> AsyncIterator[None]:
    alice, bob = await world.join("alice", "bob")
    for n in count():
        sender, to = (alice, "bob") if n % 2 else (bob, "alice")
        async with sender.turn() as turn:
            turn.inject([{"role": "user", "content": "Go on."}], provider="anthropic")
            turn.responded(f"msg_{n}")
        await sender.send(to, f"step {n}")
        yield


async def answered_news(world: World) -> AsyncIterator[None]:
    """One agent sends news, the other replies, and the next news replies to nothing."""
    alice, bob = await world.join("alice", "bob")
    for n in count():
        news = await alice.send("bob", f"news {n}")
        yield
        await bob.reply(news.message_id, f"I see, {n}")
        yield


async def repeated_question(world: World) -> AsyncIterator[None]:
    alice, bob = await world.join("alice", "bob")
    for n in count():
        asked = await alice.ask("bob", f"Is it done by now ({n})?", timeout=0)
        yield
        await bob.reply(asked.ticket.message_id, f"Not yet ({n}).")
        yield


async def questions_by_turns(world: World) -> AsyncIterator[None]:
    pair = await world.join("alice", "bob")
    for n in count():
        asker, other = pair[n % 2], pair[1 - n % 2]
        asked = await asker.ask(other.name, f"{'abcdefghij'[n % 10] * 5} {n}?", timeout=0)
        yield
        await other.reply(asked.ticket.message_id, f"answer {n}")
        yield


async def broadcasts_by_turns(world: World) -> AsyncIterator[None]:
    for n, sender in enumerate(cycle(await world.join("alice", "bob", "carol"))):
        await sender.send("*", f"step {n}")
        yield


async def tasks_by_turns(world: World) -> AsyncIterator[None]:
    pair = await world.join("alice", "bob")
    for n in count():
        delegator, worker = pair[n % 2], pair[1 - n % 2]
        await delegator.delegate(worker.name, f"step {n}")
        yield
        work = await worker.take(timeout=0, start=True)
        assert work is not None
        yield  # two updates: accepted, and started
        yield
        await work.complete(f"done {n}")
        yield


async def progress(world: World) -> AsyncIterator[None]:
    alice, bob = await world.join("alice", "bob")
    await alice.delegate("bob", "count")
    work = await bob.take(timeout=0, start=True)
    assert work is not None
    for n in count():
        await work.progress(f"at {n}")
        yield


async def circle_of_three(world: World) -> AsyncIterator[None]:
    members = await world.join("alice", "bob", "carol")
    for n in count():
        await members[n % 3].send(members[(n + 1) % 3].name, f"step {n}")
        yield


async def circle_of_five(world: World) -> AsyncIterator[None]:
    members = await world.join("alice", "bob", "carol", "dan", "eve")
    for n in count():
        await members[n % 5].send(members[(n + 1) % 5].name, f"step {n}")
        yield


async def sessions_of_one_agent(world: World) -> AsyncIterator[None]:
    one, two = await world.process().join("alice"), await world.process().join("alice")
    for n in count():
        sender, to = (one, two) if n % 2 else (two, one)
        await sender.send(to.session.id, f"step {n}")
        yield


async def native_messages(world: World) -> AsyncIterator[None]:
    pair = await world.join("alice", "bob")
    for n in count():
        await tool(pair[n % 2], "native", "send_message", to=pair[1 - n % 2].name, message=f"step {n}")
        yield


async def broadcast_tool(world: World) -> AsyncIterator[None]:
    for n, sender in enumerate(cycle(await world.join("alice", "bob"))):
        await tool(sender, "broadcast", "broadcast", message=f"step {n}")
        yield


async def mailbox_tasks(world: World) -> AsyncIterator[None]:
    pair = await world.join("alice", "bob")
    for n in count():
        delegator, worker = pair[n % 2], pair[1 - n % 2]
        parts: list[Json] = [{"type": "text", "text": f"step {n}"}]
        await tool(delegator, "mailbox", "delegate_task", to=worker.name, parts=parts, for_task="none")
        yield
        work = await worker.take(timeout=0, start=True)
        assert work is not None
        yield
        yield
        await work.complete("done")
        yield


LOOPS: Final[Mapping[str, Loop]] = {
    loop.__name__: loop
    for loop in (
        plain_sends,
        sends_after_turns,
        answered_news,
        repeated_question,
        questions_by_turns,
        broadcasts_by_turns,
        tasks_by_turns,
        progress,
        circle_of_three,
        circle_of_five,
        sessions_of_one_agent,
        native_messages,
        broadcast_tool,
        mailbox_tasks,
    )
}


async def run(world: World, loop: Loop, most: int) -> tuple[int, Exception | None]:
    """Run a loop for at most `most` messages.

    Return the number of accepted ones, and the error that stopped the loop.
    """
    accepted = 0
    try:
        async for _ in loop(world):
            accepted += 1
            if accepted >= most:
                return accepted, None
    except (*STORMS, Refused) as error:
        return accepted, error
    raise AssertionError("a loop has no end of its own")
