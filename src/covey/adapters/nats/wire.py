"""The peers' wire on NATS: one stream over `agent.inbox.>`, with a retention of some minutes."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from nats.aio.client import Client
from nats.aio.msg import Msg

from covey.adapters.nats.client.connection import Account
from covey.adapters.nats.client.link import Link, call_with_retries
from covey.adapters.nats.client.requests import StreamMessage, fetched, subscribed
from covey.adapters.nats.log.streams import ensure
from covey.core.coroutine import finish
from covey.core.errors import Unavailable
from covey.core.formats.nats_names import INBOX_STREAM
from covey.core.formats.peers import INBOX_SUBJECT_PREFIX, inbox_subject
from covey.core.json import Json
from covey.core.limits import PEERS_INBOX_CAPACITY, UNREGISTERED_WAIT
from covey.core.names import MessageId, SessionId
from covey.ports.channels import Arrival

ALL_INBOXES: Final = f"{INBOX_SUBJECT_PREFIX}.>"
MAX_BYTES: Final = 256 * 1024 * 1024
"""Size limit of the stream, over all inboxes. At the limit the oldest messages are discarded."""
_PAGE: Final = 256
_SPACE: Final = "Covey-Space"
"""The header that names the sending space, so that a space skips its own messages."""


def inbox_config() -> Mapping[str, Json]:
    """Return the configuration of the stream: the newest 64 messages of each inbox, for ten minutes.

    Programs that only publish are not affected.
    """
    return {
        "name": INBOX_STREAM,
        "description": "What was sent to agent.inbox.<uuid> lately",
        "subjects": [ALL_INBOXES],
        "max_age": int(UNREGISTERED_WAIT.total_seconds() * 10**9),
        "max_msgs_per_subject": PEERS_INBOX_CAPACITY,
        "max_bytes": MAX_BYTES,
        "discard": "old",
        "allow_direct": True,
    }


class NatsWire:
    """`Wire` that blocks the calling thread. Its coroutines never suspend, and `arrivals` does not wait."""

    stream = INBOX_STREAM

    def __init__(self, link: Link) -> None:
        self._link = link
        self._is_there = False

    async def may_receive(self) -> bool:
        return self._link.account.is_owner

    async def keep(self) -> None:
        account = self._link.account

        async def attempt(client: Client, limit_s: float) -> None:
            del limit_s  # the request for the stream has its own limit
            await self._ensure(client, account)

        call_with_retries(self._link, attempt, self._link.settings.limit_s)

    async def tell(self, session_id: SessionId, payload: bytes, message_id: MessageId) -> None:
        headers = {_SPACE: self._link.settings.space, "Nats-Msg-Id": f"{message_id}@{session_id}"}

        async def attempt(client: Client, limit_s: float) -> None:
            await client.publish(inbox_subject(session_id), payload, headers=headers)
            await client.flush(max(1, int(limit_s)))

        call_with_retries(self._link, attempt, self._link.settings.limit_s)

    async def arrivals(self, after: int, seconds: float) -> Sequence[Arrival]:
        return self.fetch(after, _PAGE)

    async def arrival(self, seq: int) -> Arrival | None:
        found = self.fetch(seq - 1, 1)
        return found[0] if found and found[0].seq == seq else None

    def fetch(self, after: int, count: int) -> Sequence[Arrival]:
        """Return up to `count` messages with a sequence number above `after`."""
        settings, account = self._link.settings, self._link.account

        async def attempt(client: Client, limit_s: float) -> Sequence[StreamMessage]:
            await self._ensure(client, account)
            body: dict[str, Json] = {"seq": after + 1, "next_by_subj": ALL_INBOXES, "batch": count}
            return await fetched(client, INBOX_STREAM, body, limit_s)

        found = call_with_retries(self._link, attempt, settings.limit_s)
        return [
            Arrival(
                stored.seq,
                datetime.fromisoformat(stored.at),
                stored.subject,
                stored.data,
                is_ours=stored.headers.get(_SPACE) == settings.space,
            )
            for stored in found
        ]

    async def _ensure(self, client: Client, account: Account) -> None:
        if not self._is_there:
            await ensure(client, inbox_config(), self._link.settings, account)
            self._is_there = True


class ListeningWire:
    """`Wire` for a program with an event loop. A subscription only gives hints; messages are read from the stream."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._wire = NatsWire(link)
        self.stream = self._wire.stream
        self._hint: asyncio.Event | None = None

    async def may_receive(self) -> bool:
        return await asyncio.to_thread(lambda: finish(self._wire.may_receive()))

    async def keep(self) -> None:
        await asyncio.to_thread(lambda: finish(self._wire.keep()))

    async def tell(self, session_id: SessionId, payload: bytes, message_id: MessageId) -> None:
        await asyncio.to_thread(lambda: finish(self._wire.tell(session_id, payload, message_id)))

    async def arrivals(self, after: int, seconds: float) -> Sequence[Arrival]:
        hint = self._hint or self._listen()
        hint.clear()  # before the read, so that a message that arrives during the read sets the event again
        try:
            found = await asyncio.to_thread(lambda: finish(self._wire.arrivals(after, 0)))
        except Unavailable:
            await asyncio.sleep(seconds)  # backoff: an immediate retry would load a server that is in trouble
            raise
        if found or seconds <= 0:
            return found
        try:
            await asyncio.wait_for(hint.wait(), seconds)
        except TimeoutError:
            return ()
        return await asyncio.to_thread(lambda: finish(self._wire.arrivals(after, 0)))

    async def arrival(self, seq: int) -> Arrival | None:
        return await asyncio.to_thread(lambda: finish(self._wire.arrival(seq)))

    def _listen(self) -> asyncio.Event:
        """Set the event on every message, until the link ends."""
        loop, hint = asyncio.get_running_loop(), asyncio.Event()
        self._hint = hint

        async def hear(_message: Msg) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(hint.set)

        async def listen(client: Client) -> None:
            await subscribed(client, ALL_INBOXES, hear)

        self._link.begin(listen)
        return hint
