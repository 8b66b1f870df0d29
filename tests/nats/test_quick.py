"""Subscriptions and requests without a task in between: they behave like those of the client."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from queue import SimpleQueue

import nats.errors
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from covey.adapters.nats.client.connection import connect
from covey.adapters.nats.client.requests import PendingRequests, is_no_responders
from covey.adapters.nats.client.settings import nats_settings
from covey.adapters.nats.client.steady import SteadyClient, heard_at_once
from tests.nats.servers import NatsServer

LIMIT_S = 20.0

HEADERS = [
    b"Nats-Msg-Id: 1\r\nNats-Sequence:2\r\n\r\n",
    b" a : b \r\n",
    b"a:b:c\r\n",
    b"a:\r\n",
    b"a b: c\r\n",
    b"\xff: c\r\nd: \xff\r\n",
    b"no colon\r\n",
    b"",
]


@asynccontextmanager
async def asking(server: NatsServer) -> AsyncGenerator[tuple[SteadyClient, PendingRequests]]:
    client = await connect(nats_settings(f"{server.address}/team", {}, {}))
    answers = PendingRequests(client)
    await answers.listen()
    try:
        yield client, answers
    finally:
        await client.close()


async def echo(client: Client, subject: str) -> None:
    """Answer each request with its own payload."""

    async def answer(message: Msg) -> None:
        await message.respond(message.data)

    await client.subscribe(subject, cb=answer)  # pyright: ignore[reportUnknownMemberType] # a parameter has no type


async def test_each_request_gets_its_own_answer(server: NatsServer) -> None:
    async with asking(server) as (client, answers):
        await echo(client, "echo")
        said = [f"{n}".encode() for n in range(50)]
        found = await asyncio.gather(*(answers.request("echo", data, {"a": "b"}, LIMIT_S) for data in said))
        assert [message.data for message in found] == said


async def test_a_request_without_a_responder_fails_at_once(server: NatsServer) -> None:
    async with asking(server) as (_, answers):
        with pytest.raises(nats.errors.NoRespondersError):
            await answers.request("nobody", b"", {}, LIMIT_S)


async def test_a_request_without_an_answer_times_out(server: NatsServer) -> None:
    async with asking(server) as (client, answers):
        await heard_at_once(client, "silent", lambda _message: None)
        with pytest.raises(TimeoutError):
            await answers.request("silent", b"", {}, 0.05)


async def test_a_request_with_a_callback_gets_its_outcome(server: NatsServer) -> None:
    async with asking(server) as (client, answers):
        await echo(client, "echo")
        await heard_at_once(client, "silent", lambda _message: None)
        told: asyncio.Queue[Msg | None] = asyncio.Queue()
        async with asyncio.timeout(LIMIT_S):
            assert answers.is_ready(client, 100)
            answers.ask("echo", b"one", {}, LIMIT_S, told.put_nowait)
            answer = await told.get()
            assert answer is not None
            assert answer.data == b"one"
            answers.ask("nobody", b"", {}, LIMIT_S, told.put_nowait)
            answer = await told.get()
            assert answer is not None
            assert is_no_responders(answer)
            answers.ask("silent", b"", {}, 0.05, told.put_nowait)
            assert await told.get() is None


async def test_a_disconnected_client_is_not_ready(server: NatsServer) -> None:
    async with asking(server) as (client, answers):
        assert not answers.is_ready(client, 100_000_000)
        await client.close()
        assert not answers.is_ready(client, 1)
        with pytest.raises(nats.errors.Error):
            answers.ask("echo", b"", {}, LIMIT_S, SimpleQueue[Msg | None]().put)


@pytest.mark.parametrize("raw", HEADERS)
def test_headers_are_read_as_the_client_reads_them(raw: bytes) -> None:
    assert SteadyClient._parse_header_lines(raw) == Client._parse_header_lines(raw)  # pyright: ignore[reportPrivateUsage] # it is replaced
