"""Messages from people over HTTP: a request with the secret is accepted once, and all others are refused."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, NamedTuple

import pytest

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore, MemoryWakeups
from covey.adapters.system.files import RootedFiles, StoreFiles
from covey.adapters.system.ids import SystemIds
from covey.core.channels.channel import console, webhook
from covey.core.channels.post import OWN
from covey.core.errors import Invalid, Unavailable
from covey.core.http import HttpAddress, HttpLimits, SignatureDirection, SignedFields, signature
from covey.core.identity import Identity, parse_address
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import Callback
from covey.core.names import AgentName
from covey.engines.adapters import Adapters
from covey.runtime.channels.http_listener import MAX_BODY, MAX_HEAD, HttpListener
from covey.services.channels.channels import PersonMessage
from covey.services.directory.directory import JoinRequest
from covey.services.space import Services
from covey.testing import HandClock

OPS, CODER = AgentName("ops"), AgentName("coder")
OWNER = Identity(AgentName("owner"))
SECRET = "a secret of ours"
LIMIT_S = 10.0
ROOMY = HttpLimits()
POST = b"POST /c HTTP/1.1\r\nHost: x\r\n"


class Answer(NamedTuple):
    status: int
    json: Any


class Listening(NamedTuple):
    """A space that listens for people's requests, on a port of this machine."""

    services: Services
    address: HttpAddress
    heard: list[PersonMessage]
    clock: HandClock

    async def raw(self, content: bytes, *, end: bool = False) -> Answer | None:
        """Send bytes. Return the answer, or None if there is none."""
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
        """Post a person's message, signed."""
        body = json.dumps(fields).encode()
        return await self.post(path, body, *self.signed(path, body, *headers))

    def signed(self, path: str, body: bytes, *headers: str, secret: str = SECRET, method: str = "POST") -> list[str]:
        """Return the headers of a request, including the signature."""
        given = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in headers)}
        now = str(int(self.clock.now().timestamp()))
        key, content_type = given.get("idempotency-key", ""), given.get("content-type", "")
        shown = signature(secret, SignedFields(SignatureDirection.SAID, method, path, now, key, content_type, body))
        return [*headers, f"X-Covey-Timestamp: {now}", f"x-covey-signature: {shown}"]

    async def texts(self) -> list[str]:
        return [item.message.text for item in await self.services.inbox.peek(CODER)]


@asynccontextmanager
async def listening(limits: HttpLimits = ROOMY) -> AsyncGenerator[Listening]:
    wakeups, clock = MemoryWakeups(), HandClock()
    store = MemoryStore(wakeups.ring)
    services = Services(
        Adapters(
            store=store,
            wakeups=wakeups,
            blobs=MemoryBlobs(),
            search=MemorySearch(store),
            liveness=MemoryLiveness(),
            files=RootedFiles((), StoreFiles()),
            clock=clock,
            ids=SystemIds(),
        )
    )
    config = webhook(OPS, "http://127.0.0.1:1/", secret=SECRET)
    await services.channels.add(config, OWNER)
    await services.directory.join(JoinRequest(CODER))
    await services.channels.bind(OPS, OWN, parse_address("coder"), OWNER)
    heard: list[PersonMessage] = []
    async with HttpListener(services, config, heard.append, limits).listening(HttpAddress(port=0)) as address:
        yield Listening(services, address, heard, clock)


async def test_a_persons_message_is_accepted_in_its_conversation() -> None:
    async with listening() as space:
        answer = await space.say("/oc_%E8%AF%AD%2F1?x=1", text="Is it done?", person="ann")
        assert (answer.status, answer.json["delivered"]) == (200, 1)
        (item,) = await space.services.inbox.peek(CODER)
        assert (item.message.id, item.message.text) == (answer.json["id"], "Is it done?")
        assert item.message.callback == Callback("ops", "oc_语/1")
        assert item.message.marks == Marks(person="ann")
        assert (await space.say("/", text="own")).status == 200
        assert [said.conversation for said in space.heard] == ["oc_语/1", OWN]


async def test_a_bearer_secret_and_plain_text_are_accepted() -> None:
    async with listening() as space:
        words = (f"Authorization: Bearer {SECRET}", "Content-Type: text/plain; charset=utf-8")
        assert (await space.post("/c-1", "Ja, natürlich".encode(), *words)).status == 200
        assert await space.texts() == ["Ja, natürlich"]


async def test_an_unsigned_wrongly_signed_or_old_request_is_401_and_not_accepted() -> None:
    async with listening() as space:
        body = b'{"text": "hello"}'
        stamp, shown = good = space.signed("/c-1", body)
        for headers in (
            (),
            (shown,),
            (stamp, "X-Covey-Signature: v1=00"),
            (stamp, shown.replace("v1=", "sha256=")),
            space.signed("/c-1", body, secret="another secret"),
            space.signed("/c-1", b"other"),
            space.signed("/c-2", body),
            space.signed("/c-1?x", body),
            space.signed("/c-1", body, method="PUT"),
            [*good, "Idempotency-Key: k-1"],
            [*good, "Content-Type: text/plain"],
            ("Authorization: Bearer wrong",),
            ("Authorization: Bearer",),
            (f"Authorization: Basic {SECRET}",),
            ("Authorization: Bearer wrong", *good),
        ):
            answer = await space.post("/c-1", body, *headers)
            assert (answer.status, answer.json["error"]["code"]) == (401, "identity-refused"), headers
        space.clock.advance(301)
        assert (await space.post("/c-1", body, *good)).status == 401
        assert await space.texts() == []
        assert space.heard == []


async def test_a_signed_request_is_accepted_once_and_refused_when_it_is_replayed() -> None:
    async with listening() as space:
        body = b'{"text": "yes"}'
        for number, headers in enumerate([("Idempotency-Key: k-1",), ()], 1):
            signed = space.signed("/c-1", body, *headers)
            first = await space.post("/c-1", body, *signed)
            assert first.status == 200
            again = await space.post("/c-1", body, *signed)
            assert (again.status, again.json["error"]["code"]) == (409, "request-replayed")
            assert again.json["error"]["details"]["message_id"] == first.json["id"]
            assert (await space.texts(), len(space.heard)) == (["yes"] * number, number)


async def test_a_key_is_used_once_even_if_it_is_signed_again() -> None:
    async with listening() as space:
        assert (await space.say("/c-1", "Idempotency-Key: k-1", text="yes")).status == 200
        space.clock.advance(1)
        again = await space.say("/c-1", "Idempotency-Key: k-1", text="yes")
        assert (again.status, again.json["error"]["code"]) == (409, "request-replayed")
        other = await space.say("/c-1", "Idempotency-Key: k-1", text="no")
        assert (other.status, other.json["error"]["code"]) == (409, "message-id-reused")
        assert await space.texts() == ["yes"]


async def test_a_request_to_several_listeners_is_accepted_once() -> None:
    async with listening() as space:
        config = await space.services.channels.config(OPS)
        ears = [HttpListener(space.services, config, space.heard.append) for _ in range(5)]
        body = b'{"text": "yes"}'
        signed = space.signed("/c-1", body)
        async with AsyncExitStack() as stack:
            addresses = [await stack.enter_async_context(ear.listening(HttpAddress(port=0))) for ear in ears]
            posts = [space._replace(address=address).post("/c-1", body, *signed) for address in addresses]
            answers = await asyncio.gather(*posts)
        assert sorted(answer.status for answer in answers) == [200, 409, 409, 409, 409]
        assert (await space.texts(), len(space.heard)) == (["yes"], 1)


async def test_a_request_with_the_bearer_secret_may_be_repeated_under_its_key() -> None:
    async with listening() as space:
        words = (f"Authorization: Bearer {SECRET}", "Idempotency-Key: k-1")
        first, again = [await space.post("/c-1", b'{"text": "yes"}', *words) for _ in range(2)]
        assert first == again
        assert await space.texts() == ["yes"]


async def test_a_post_of_the_space_is_not_accepted_as_a_persons_message() -> None:
    async with listening() as space:
        body, now = b'{"text": "deploy it"}', str(int(space.clock.now().timestamp()))
        posted = signature(SECRET, SignedFields(SignatureDirection.POSTED, "POST", "/", now, "p-1", "", body))
        words = (f"X-Covey-Timestamp: {now}", f"X-Covey-Signature: {posted}", "Idempotency-Key: p-1")
        assert (await space.post("/", body, *words)).status == 401


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
async def test_an_invalid_message_is_answered_with_the_reason(path: str, fields: Any, status: int) -> None:
    async with listening() as space:
        answer = await space.say(path, **fields)
        assert (answer.status, bool(answer.json["error"]["message"])) == (status, True)
        assert await space.texts() == []


async def test_an_unbound_conversation_is_404() -> None:
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
        (b"POST x HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"POST /c HTTP/2\r\n\r\n", 400),
        (b"POST /c HTTP/2.0\r\nHost: x\r\n\r\n", 400),
        (b"POST /c  HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"POST /c\xff HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"\r\n\r\n", 400),
        (b"POST /c HTTP/1.1\r\n\r\n", 400),
        (POST + b"Host: y\r\n\r\n", 400),
        (POST + b"no colon\r\n\r\n", 400),
        (POST + b": no name\r\n\r\n", 400),
        (POST + b"A : b\r\n\r\n", 400),
        (POST + b"A: b\r\na: c\r\n\r\n", 400),
        (POST + b"A: b\x00c\r\n\r\n", 400),
        (POST + b"A\x00: b\r\n\r\n", 400),
        (POST + b"A: b\rContent-Length: 5\r\n\r\n", 400),
        (b"POST /c HTTP/1.1\r\n folded: x\r\nHost: x\r\n\r\n", 400),
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (POST + b"Content-Length: 1, 2\r\n\r\n", 400),
        (POST + b"Content-Length: -1\r\n\r\n", 400),
        (POST + b"Content-Length: +1\r\n\r\na", 400),
        (POST + b"Content-Length: 1_0\r\n\r\n0123456789", 400),
        (POST + b"Content-Length: 0x1\r\n\r\na", 400),
        (POST + b"Content-Length: \r\n\r\n", 400),
        (POST + b"Content-Length: 5\r\n\r\nabc", 400),
        (POST + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFFFFFF\r\n", 411),
        (POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 411),
        (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 411),
        (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 411),
        (POST + b"Content-Length: %d\r\n\r\n" % (MAX_BODY + 1), 413),
        (POST + b"Content-Length: " + b"9" * 20 + b"\r\n\r\n", 413),
        (POST + b"X: " + b"x" * MAX_HEAD + b"\r\n\r\n", 431),
        (POST + b"X:\r\n" + b" x\r\n" * MAX_HEAD, 431),
        (b"x" * (2 * MAX_HEAD), 431),
        (POST + b"\r\n", 401),
        (b"POST /c HTTP/1.0\r\n\r\n", 401),
    ],
)
async def test_an_invalid_request_is_answered_and_does_no_harm(content: bytes, status: int | None) -> None:
    async with listening() as space:
        answer = await space.raw(content, end=True)
        assert (None if answer is None else answer.status) == status
        assert (await space.say("/c-1", text="still there")).status == 200


async def test_only_posts_are_accepted_and_the_secret_is_checked_first() -> None:
    async with listening() as space:
        bearer = f"Authorization: Bearer {SECRET}"
        assert (await space.post("/c-1", b"", bearer, method="GET")).status == 405
        assert (await space.post("/c-1", b"", method="GET")).status == 401


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        (b"POST /c-1 HTTP/1.1\nHost: x\nAuthorization: Bearer %s\nContent-Length: %d\n\n", b""),
        (b"POST /c-1 HTTP/1.1\r\nHost: x\nAuthorization: Bearer %s\nContent-Length: %d\r\n\n", b""),
        (b"POST /c-1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer\r\n\t %s\r\nContent-Length: %d\r\n\r\n", b""),
        (b"POST /c-1 HTTP/1.1\r\nHost:x\r\nAUTHORIZATION:Bearer %s\r\nContent-Length: %d \r\n\r\n", b""),
        (b"POST /c-1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 00%d\r\n\r\n", b""),
        (b"POST /c-1 HTTP/1.0\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", b""),
        (
            b"POST /c-1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n",
            b"POST /c-2 HTTP/1.1\r\nHost: x\r\n\r\n",
        ),
        (
            b"POST /c-1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n",
            b"\x00" * 2 * MAX_HEAD,
        ),
    ],
    ids=["LF", "some LF", "folded", "case and spaces", "zeros", "HTTP/1.0", "pipelined", "followed by bytes"],
)
async def test_an_unusual_request_is_read_as_http_defines_it_and_only_the_first_counts(
    begins: bytes, ends: bytes
) -> None:
    async with listening() as space:
        body = b'{"text": "hello"}'
        answer = await space.raw(begins % (SECRET.encode(), len(body)) + body + ends)
        assert answer is not None
        assert (answer.status, await space.texts(), len(space.heard)) == (200, ["hello"], 1)


async def test_a_request_may_arrive_in_any_pieces() -> None:
    async with listening() as space, asyncio.timeout(LIMIT_S):
        body = b'{"text": "hello"}'
        head = POST + f"Authorization: Bearer {SECRET}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        reader, writer = await asyncio.open_connection(space.address.host, space.address.port)
        for byte in head + body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()
        await writer.wait_closed()


async def test_the_largest_head_and_body_are_accepted() -> None:
    async with listening() as space:
        body = b'{"text": "hello"}'.ljust(MAX_BODY)
        head = POST + f"Authorization: Bearer {SECRET}\r\nContent-Length: {MAX_BODY}\r\nX: ".encode()
        answer = await space.raw(head.ljust(MAX_HEAD - 4, b"x") + b"\r\n\r\n" + body)
        assert answer is not None
        assert answer.status == 200


@pytest.mark.parametrize("half", [b"", b"POST /c HT", POST + b"Content-Length: 5\r\n\r\nab"])
async def test_an_incomplete_request_times_out(half: bytes) -> None:
    async with listening(HttpLimits(request_s=0.05)) as space:
        answer = await space.raw(half)
        assert answer is not None
        assert (answer.status, answer.json["error"]["code"]) == (408, "request-timeout")


async def test_a_request_that_arrives_a_byte_at_a_time_times_out_too() -> None:
    async with listening(HttpLimits(request_s=0.2)) as space, asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection(space.address.host, space.address.port)
        answered = asyncio.ensure_future(reader.read())
        with suppress(ConnectionError):
            while not answered.done():
                writer.write(b"x")
                await writer.drain()
                await asyncio.wait({answered}, timeout=0.01)
        assert b"request-timeout" in await answered
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def test_connections_above_the_limit_get_503_and_further_ones_are_closed() -> None:
    async with listening(HttpLimits(connections=2)) as space, asyncio.timeout(LIMIT_S):
        place = space.address.host, space.address.port
        streams = [await asyncio.open_connection(*place) for _ in range(2)]
        for _, writer in streams:
            writer.write(b"POST")
            await writer.drain()
        waiting = [await asyncio.open_connection(*place) for _ in range(3)]
        answers = await asyncio.gather(*(reader.read() for reader, _ in waiting), return_exceptions=True)
        told = [answer for answer in answers if isinstance(answer, bytes) and answer]
        assert [b"503" in answer and b"too-many-connections" in answer for answer in told] == [True, True]
        for _, writer in (*streams, *waiting):
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


async def test_a_channel_without_a_secret_is_refused_and_a_used_port_is_unavailable() -> None:
    async with listening() as space:
        with pytest.raises(Invalid):
            HttpListener(space.services, console(OPS), space.heard.append)
        other = HttpListener(space.services, webhook(OPS, "http://h/", secret=SECRET), space.heard.append)
        with pytest.raises(Unavailable):
            async with other.listening(space.address):
                raise AssertionError
