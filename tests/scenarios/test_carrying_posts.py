"""A Python program that carries posts to people: by a webhook to a receiver on loopback, and on a console."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

import covey
from covey.core.channels.channel import console, webhook
from covey.core.channels.post import OutgoingPost, PostState
from covey.core.errors import ChannelUnknown
from covey.core.names import AgentName
from tests.runtime.channels.receiving import Receiver, receiver_in

OPS = AgentName("ops")
LIMIT_S = 20.0


@pytest.fixture
def receiver(tmp_path: Path) -> Generator[Receiver]:
    with receiver_in(tmp_path) as found:
        yield found


async def test_posts_reach_a_webhook_as_they_arrive_until_the_program_stops(receiver: Receiver) -> None:
    receiver.start()
    seen: asyncio.Queue[OutgoingPost] = asyncio.Queue()
    async with asyncio.timeout(LIMIT_S), covey.open("memory:") as space:
        coder = await space.join("coder")
        await space.services.channels.add(webhook(OPS, receiver.url), coder.identity)
        async with asyncio.TaskGroup() as group:
            carrying = group.create_task(space.carry_posts("ops", tell=seen.put_nowait))
            for text in ("one", "two"):
                await coder.send("ops", text)
                outgoing = await seen.get()
                assert (outgoing.message.text, outgoing.post.state) == (text, PostState.DELIVERED)
            carrying.cancel()
    assert receiver.texts("") == ["one", "two"]


async def test_carrying_once_returns_whether_all_was_delivered_and_leaves_the_rest_for_later(
    receiver: Receiver,
) -> None:
    receiver.start()
    receiver.kill()
    seen: list[OutgoingPost] = []
    async with asyncio.timeout(LIMIT_S), covey.open("memory:") as space:
        coder = await space.join("coder")
        await space.services.channels.add(webhook(OPS, receiver.url), coder.identity)
        assert await space.carry_posts(once=True)
        await coder.send("ops", "is anyone there?")
        assert not await space.carry_posts(["ops"], once=True, tell=seen.append)
        (waiting,) = await space.services.posts.find(OPS, PostState.PENDING)
    assert [outgoing.post.attempts for outgoing in seen] == [1]
    assert waiting.message.text == "is anyone there?"


async def test_a_console_writes_to_the_stdout_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    async with asyncio.timeout(LIMIT_S), covey.open("memory:") as space:
        coder = await space.join("coder")
        await space.services.channels.add(console(OPS), coder.identity)
        await coder.send("ops", "The parser is done.")
        assert await space.carry_posts(once=True)
    assert capsys.readouterr().out == "ops coder: The parser is done.\n"


async def test_carrying_posts_without_channels_is_an_error() -> None:
    async with covey.open("memory:") as space:
        with pytest.raises(ChannelUnknown):
            await space.carry_posts(once=True)
