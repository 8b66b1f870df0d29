"""The peers' wire for programs with an event loop: it waits for what comes, and holds nothing up."""

import asyncio
from collections.abc import Sequence

from nats.aio.client import Client
from nats.aio.msg import Msg

from covey.adapters.nats.api import subscribed
from covey.adapters.nats.bridge import ALL_INBOXES, NatsWire
from covey.adapters.nats.link import Link
from covey.core.drive import finish
from covey.core.errors import Unavailable
from covey.core.ids import MessageId, SessionId
from covey.ports.wire import Arrival


class ListeningWire:
    """`Wire`. What is heard is only a hint: the stream says what came."""

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
        hint.clear()  # before looking: what comes while one looks rings again
        try:
            found = await asyncio.to_thread(lambda: finish(self._wire.arrivals(after, 0)))
        except Unavailable:
            await asyncio.sleep(seconds)  # who asks again at once would not let the server rest
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
        """Let whatever comes ring the event, for as long as the connection is there."""
        loop, hint = asyncio.get_running_loop(), asyncio.Event()
        self._hint = hint

        async def hear(_message: Msg) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(hint.set)

        async def listen(client: Client) -> None:
            await subscribed(client, ALL_INBOXES, hear)

        self._link.begin(listen)
        return hint
