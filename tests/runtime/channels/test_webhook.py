"""The webhook channel against a misbehaving receiver in a separate process. The test advances the clock."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.adapters.channels.webhook import WebhookChannel
from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore, MemoryWakeups
from covey.adapters.system.files import RootedFiles, StoreFiles
from covey.adapters.system.ids import SystemIds
from covey.core.channels.channel import webhook
from covey.core.channels.post import OutgoingPost, Post, PostState
from covey.core.http import SignatureDirection, SignedFields, is_signed
from covey.core.identity import Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Callback, Kind, TextPart
from covey.core.names import AgentName
from covey.engines.adapters import Adapters
from covey.runtime.channels.pump import Pump
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services
from covey.testing import HandClock
from tests.runtime.channels.receiving import Receiver, receiver_in, until

OPS = AgentName("ops")
CODER = Identity(AgentName("coder"))
SECRET = "a secret of ours"
PATIENCE_S = 0.5


class Space:
    """A space in memory with a webhook, and a pump that the test runs."""

    def __init__(self, receiver: Receiver, patience: float = PATIENCE_S) -> None:
        self.clock = HandClock()
        wakeups = MemoryWakeups()
        store = MemoryStore(wakeups.ring)
        self.services = Services(
            Adapters(
                store=store,
                wakeups=wakeups,
                blobs=MemoryBlobs(),
                search=MemorySearch(store),
                liveness=MemoryLiveness(),
                files=RootedFiles((), StoreFiles()),
                clock=self.clock,
                ids=SystemIds(),
            ),
            0.01,
        )
        self.attempts: list[Post] = []
        self.config = webhook(OPS, receiver.url, secret=SECRET)
        self.channel = WebhookChannel(self.config, self.clock.now, patience)
        self.pump = Pump(self.services, OPS, self.channel, self._tell, print)

    def _tell(self, _outgoing: OutgoingPost, after: Post) -> None:
        self.attempts.append(after)

    async def send(self, text: str, conversation: str = "c-1") -> str:
        draft = Draft(Kind.NOTIFY, (parse_address("ops"),), (TextPart(text),), callback=Callback("ops", conversation))
        return (await self.services.mail.send(draft, CODER, SendPolicy())).message_id

    async def set_up(self, *texts: str) -> None:
        await self.services.channels.add(self.config, CODER)
        for text in texts:
            await self.send(text)

    async def drain(self, wait: float = 0.0) -> Post:
        """Advance the clock and let the pump carry all posts that are due. Return the post after the last attempt."""
        self.clock.advance(wait)
        async with asyncio.timeout(10):
            await self.pump.drain()
        return self.attempts[-1]


@pytest.fixture
def receiver(tmp_path: Path) -> Generator[Receiver]:
    with receiver_in(tmp_path) as receiver:
        yield receiver


async def test_a_post_is_signed_and_contains_its_whole_message(receiver: Receiver) -> None:
    receiver.start()
    space = Space(receiver)
    await space.set_up("it is done: ü 語")
    post = await space.drain()
    assert (post.state, post.attempts) == (PostState.DELIVERED, 1)
    (request,) = receiver.requests
    headers, body = request["headers"], request["body"]
    assert request["path"] == "/hook?a=1"
    assert headers["Idempotency-Key"] == post.id == body["id"]
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    assert body["message"] == post.message_id
    assert (body["text"], body["conversation"], body["channel"]) == ("it is done: ü 語", "c-1", "ops")
    assert body["from"] == {"agent": "coder", "grade": "claimed"}
    assert body["callback"] == {"channel": "ops", "session_id": "c-1"}


async def test_the_signature_covers_the_whole_request_byte_by_byte(receiver: Receiver) -> None:
    receiver.start()
    space = Space(receiver)
    await space.set_up("hello")
    await space.drain()
    (request,) = receiver.requests
    headers = request["headers"]
    raw = request["raw"].encode()
    signed = SignedFields(
        SignatureDirection.POSTED,
        "POST",
        request["path"],
        headers["X-Covey-Timestamp"],
        headers["Idempotency-Key"],
        headers["Content-Type"],
        raw,
    )
    assert is_signed(SECRET, signed, headers["X-Covey-Signature"], space.clock.now())


@pytest.mark.parametrize("behaviour", ["500", "drop", "lose", "hang", "drip"])
async def test_a_temporary_failure_is_retried_and_the_post_is_taken_once(receiver: Receiver, behaviour: str) -> None:
    receiver.start(behaviour)
    space = Space(receiver)
    await space.set_up("first", "second")
    post = await space.drain()
    assert (post.state, post.attempts, bool(post.error)) == (PostState.PENDING, 1, True)
    assert len(receiver.requests) == 1, "nothing is tried before its time, and nothing overtakes it"
    await space.drain(1)
    assert [post.state for post in space.attempts] == [PostState.PENDING, PostState.DELIVERED, PostState.DELIVERED]
    assert receiver.texts("c-1") == ["first", "second"]


async def test_a_receiver_that_was_down_gets_all_posts_in_order_when_it_is_up(receiver: Receiver) -> None:
    receiver.start()
    receiver.kill()
    space = Space(receiver)
    await space.set_up("one", "two", "three")
    for wait in (0, 1, 2, 4):
        assert (await space.drain(wait)).state is PostState.PENDING
    assert "no answer: Connection refused" in (space.attempts[-1].error or "")
    receiver.start("500", "lose")
    for wait in (8, 16, 32):
        await space.drain(wait)
    assert receiver.texts("c-1") == ["one", "two", "three"]
    assert len(receiver.requests) == 5


async def test_a_receiver_says_when_to_retry(receiver: Receiver) -> None:
    receiver.start("429:120", "503:Thu, 01 Jan 2026 00:10:00 GMT", "429:soon")
    space = Space(receiver)
    await space.set_up("hello")
    began_at = space.clock.now()
    waits: list[float] = []
    for _ in range(3):
        post = await space.drain()
        assert post.next_at is not None
        waits.append((post.next_at - began_at).total_seconds())
        space.clock.jump((post.next_at - space.clock.now()).total_seconds())
    assert waits == [120, 600, 604]
    assert (await space.drain()).state is PostState.DELIVERED


@pytest.mark.parametrize("behaviour", ["404", "307"])
async def test_a_permanent_failure_is_given_up_at_once_and_the_next_post_is_carried(
    receiver: Receiver, behaviour: str
) -> None:
    receiver.start(behaviour)
    space = Space(receiver)
    await space.set_up("wrong", "right")
    await space.drain()
    failed, delivered = space.attempts
    assert (failed.state, delivered.state) == (PostState.FAILED, PostState.DELIVERED)
    assert (failed.error or "").startswith(behaviour)
    assert "\x1b" not in (failed.error or "")
    assert receiver.texts("c-1") == ["right"]
    (told,) = await space.services.inbox.peek(CODER.agent)
    assert "could not be posted" in told.message.text


async def test_a_slow_conversation_does_not_hold_up_the_others(receiver: Receiver) -> None:
    """Seven requests hang for far longer than the test's limit: the others succeed only if they run concurrently."""
    receiver.start(*["hang"] * 7)
    space = Space(receiver)
    await space.set_up()
    for n in range(16):
        await space.send(str(n), f"c-{n}")
    await space.drain()
    assert sorted(post.state for post in space.attempts) == [PostState.DELIVERED] * 9 + [PostState.PENDING] * 7


async def test_a_running_pump_notices_new_posts_and_stops_at_once_when_cancelled(receiver: Receiver) -> None:
    receiver.start("ok", "hang")
    space = Space(receiver, patience=30)
    await space.set_up()
    running = asyncio.create_task(space.pump.run())
    async with asyncio.timeout(10):
        await space.send("one")
        await asyncio.to_thread(until, lambda: receiver.taken, "the first post")
        await space.send("two")
        await asyncio.to_thread(until, lambda: len(receiver.taken) == 2, "the second post")
    running.cancel()
    async with asyncio.timeout(5):
        await asyncio.gather(running, return_exceptions=True)
    assert running.cancelled()
