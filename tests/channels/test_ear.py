"""Hearing people over HTTP: who shows the secret is heard, once, and everything else is answered and harmless."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore, MemoryWakeups
from covey.adapters.system.files import RootedFiles
from covey.adapters.system.ids import SystemIds
from covey.core.address import parse_address
from covey.core.binding import OWN
from covey.core.channel import console, webhook
from covey.core.errors import Invalid, Unavailable
from covey.core.http_address import HttpAddress
from covey.core.identity import Identity
from covey.core.names import AgentName
from covey.core.signature import signature
from covey.services.adapters import Adapters
from covey.services.channels import Said
from covey.services.directory import JoinRequest
from covey.services.space import Services
from covey.surfaces.cli.channels import ear as ear_module
from covey.surfaces.cli.channels.ear import Ear
from covey.surfaces.cli.channels.http import MAX_BODY, MAX_HEAD
from covey.testing import HandClock

OPS, CODER = AgentName("ops"), AgentName("coder")
OWNER = Identity(AgentName("owner"))
SECRET = "a secret of ours"
LIMIT_S = 10.0


class Answer(NamedTuple):
    status: int
    json: Any


class Listening(NamedTuple):
    """A space that hears people, on a port of this machine."""

    services: Services
    address: HttpAddress
    heard: list[Said]
    clock: HandClock

    async def raw(self, content: bytes, *, end: bool = False) -> Answer | None:
        """Send bytes; return what comes back, None for nothing."""
        async with asyncio.timeout(LIMIT_S):
            reader, writer = await asyncio.open_connection(self.address.host, self.address.port)
            try:
                writer.write(content)
                if end:
                    writer.write_eof()
                answer = await reader.read()
            finally:
                writer.close()
                await writer.wait_closed()
        if not answer:
            return None
        head, _, body = answer.partition(b"\r\n\r\n")
        assert f"Content-Length: {len(body)}".encode() in head
        return Answer(int(head.split(b" ")[1]), json.loads(body))

    async def post(self, path: str, body: bytes, *headers: str, method: str = "POST") -> Answer:
        lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *headers]
        answer = await self.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        assert answer is not None
        return answer

    async def say(self, path: str, *headers: str, **fields: object) -> Answer:
        """Post what a person says, signed."""
        body = json.dumps(fields).encode()
        now = str(int(self.clock.now().timestamp()))
        signed = (f"X-Covey-Timestamp: {now}", f"x-covey-signature: {signature(SECRET, now, body)}")
        return await self.post(path, body, *signed, *headers)

    async def texts(self) -> list[str]:
        return [item.message.text for item in await self.services.looking.peek(CODER)]


@asynccontextmanager
async def listening() -> AsyncGenerator[Listening]:
    wakeups, clock = MemoryWakeups(), HandClock()
    store = MemoryStore(wakeups.ring)
    services = Services(
        Adapters(
            store=store,
            wakeups=wakeups,
            blobs=MemoryBlobs(),
            search=MemorySearch(store),
            liveness=MemoryLiveness(),
            files=RootedFiles(()),
            clock=clock,
            ids=SystemIds(),
        )
    )
    config = webhook(OPS, "http://127.0.0.1:1/", secret=SECRET)
    await services.channels.add(config, OWNER)
    await services.directory.join(JoinRequest(CODER))
    await services.channels.bind(OPS, OWN, parse_address("coder"), OWNER)
    heard: list[Said] = []
    async with Ear(services, config, heard.append).listening(HttpAddress(port=0)) as address:
        yield Listening(services, address, heard, clock)


async def test_what_a_person_says_is_heard_in_its_conversation() -> None:
    async with listening() as space:
        answer = await space.say("/oc_%E8%AF%AD%2F1?x=1", text="Is it done?", person="ann")
        assert (answer.status, answer.json["delivered"]) == (200, 1)
        (item,) = await space.services.looking.peek(CODER)
        assert (item.message.id, item.message.text) == (answer.json["id"], "Is it done?")
        assert item.message.callback == ("ops", "oc_语/1")
        assert item.message.metadata == {"person": "ann"}
        assert (await space.say("/", text="own")).status == 200
        assert [said.conversation for said in space.heard] == ["oc_语/1", OWN]


async def test_a_bearer_and_plain_text_do_too() -> None:
    async with listening() as space:
        words = (f"Authorization: Bearer {SECRET}", "Content-Type: text/plain; charset=utf-8")
        assert (await space.post("/c-1", "Ja, natürlich".encode(), *words)).status == 200
        assert await space.texts() == ["Ja, natürlich"]


async def test_what_is_not_signed_wrongly_signed_or_old_is_401_and_not_heard() -> None:
    async with listening() as space:
        body = b'{"text": "hello"}'
        now = str(int(space.clock.now().timestamp()))
        good = signature(SECRET, now, body)
        for headers in (
            (),
            (f"X-Covey-Signature: {good}",),
            (f"X-Covey-Timestamp: {now}", "X-Covey-Signature: sha256=00"),
            (f"X-Covey-Timestamp: {now}", f"X-Covey-Signature: {signature('another secret', now, body)}"),
            (f"X-Covey-Timestamp: {now}", f"X-Covey-Signature: {signature(SECRET, now, b'other')}"),
            ("Authorization: Bearer wrong",),
            ("Authorization: Bearer",),
            (f"Authorization: Basic {SECRET}",),
            ("Authorization: Bearer wrong", f"X-Covey-Timestamp: {now}", f"X-Covey-Signature: {good}"),
        ):
            answer = await space.post("/c-1", body, *headers)
            assert (answer.status, answer.json["error"]["code"]) == (401, "identity-refused"), headers
        space.clock.advance(301)
        old = (f"X-Covey-Timestamp: {now}", f"X-Covey-Signature: {good}")
        assert (await space.post("/c-1", body, *old)).status == 401
        assert await space.texts() == []
        assert space.heard == []


async def test_what_is_said_again_under_its_key_is_heard_once() -> None:
    async with listening() as space:
        first, again = [await space.say("/c-1", "Idempotency-Key: k-1", text="yes") for _ in range(2)]
        assert first == again
        assert await space.texts() == ["yes"]
        other = await space.say("/c-1", "Idempotency-Key: k-1", text="no")
        assert (other.status, other.json["error"]["code"]) == (409, "message-id-reused")


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("/c-1", {}, 400),
        ("/c-1", {"text": 5}, 400),
        ("/c-1", {"text": "  "}, 400),
        ("/c-1", {"text": "x", "person": "a\nb"}, 400),
        ("/c-1", {"text": "x", "reply_to": "none"}, 400),
        ("/c-1", {"text": "x", "reply_to": "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"}, 404),
        ("/%FF", {"text": "x"}, 400),
        ("/%0A", {"text": "x"}, 400),
        ("/" + "x" * 300, {"text": "x"}, 400),
    ],
)
async def test_what_can_not_be_said_is_answered_with_the_reason(path: str, fields: Any, status: int) -> None:
    async with listening() as space:
        answer = await space.say(path, **fields)
        assert (answer.status, bool(answer.json["error"]["message"])) == (status, True)
        assert await space.texts() == []


async def test_a_conversation_that_nobody_listens_to_is_404() -> None:
    async with listening() as space:
        await space.services.channels.unbind(OPS, OWN, OWNER)
        answer = await space.say("/c-1", text="anyone?")
        assert (answer.status, answer.json["error"]["code"]) == (404, "conversation-unbound")


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", None),
        (b"GET", 400),
        (b"hello\r\n\r\n", 400),
        (b"POST x HTTP/1.1\r\n\r\n", 400),
        (b"POST /c HTTP/2\r\n\r\n", 400),
        (b"POST /c HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"POST /c HTTP/1.1\r\nA : b\r\n\r\n", 400),
        (b"POST /c HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST /c HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /c HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc", 400),
        (b"POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"POST /c HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY + 1), 413),
        (b"POST /c HTTP/1.1\r\nContent-Length: " + b"9" * 40 + b"\r\n\r\n", 413),
        (b"POST /c HTTP/1.1\r\nX: " + b"x" * MAX_HEAD + b"\r\n\r\n", 431),
        (b"POST /c HTTP/1.1\r\n\r\n", 401),
    ],
)
async def test_what_is_no_request_is_answered_and_harms_nobody(content: bytes, status: int | None) -> None:
    async with listening() as space:
        answer = await space.raw(content, end=True)
        assert (None if answer is None else answer.status) == status
        assert (await space.say("/c-1", text="still there")).status == 200


async def test_only_posts_are_heard_and_only_from_who_may_ask() -> None:
    async with listening() as space:
        bearer = f"Authorization: Bearer {SECRET}"
        assert (await space.post("/c-1", b"", bearer, method="GET")).status == 405
        assert (await space.post("/c-1", b"", method="GET")).status == 401


async def test_a_request_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ear_module, "SECONDS", 0.05)
    async with listening() as space:
        answer = await space.raw(b"POST /c HTTP/1.1\r\nContent-Length: 5\r\n\r\nab")
        assert answer is not None
        assert answer.status == 408


async def test_more_connections_than_can_be_served_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ear_module, "MAX_CONNECTIONS", 1)
    async with listening() as space, asyncio.timeout(LIMIT_S):
        _, idle = await asyncio.open_connection(space.address.host, space.address.port)
        idle.write(b"POST")
        await idle.drain()
        answer = await space.raw(b"POST /c HTTP/1.1\r\n\r\n", end=True)
        assert answer is not None
        assert answer.status == 503
        idle.close()
        await idle.wait_closed()


async def test_a_channel_without_a_secret_is_not_heard_and_a_taken_port_is_said() -> None:
    async with listening() as space:
        with pytest.raises(Invalid):
            Ear(space.services, console(OPS), space.heard.append)
        other = Ear(space.services, webhook(OPS, "http://h/", secret=SECRET), space.heard.append)
        with pytest.raises(Unavailable):
            async with other.listening(space.address):
                raise AssertionError
