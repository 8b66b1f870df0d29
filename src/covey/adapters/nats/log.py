"""The log of a space on NATS: one stream, to which everybody adds behind the last record that they know."""

from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, TypeVar, cast

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from covey.adapters.nats.api import WRONG_LAST_SEQUENCE, Stored, publish, subscribed
from covey.adapters.nats.bulk import Bulk
from covey.adapters.nats.durability import survives, sync_of
from covey.adapters.nats.faults import explained
from covey.adapters.nats.link import Link
from covey.adapters.nats.marks import is_genuine, marks
from covey.adapters.nats.patience import Exhausted, Patience
from covey.adapters.nats.stream import LARGE, author_of, log_config, records_after, stream_state
from covey.adapters.nats.streams import ensure
from covey.adapters.nats.turns import Turns
from covey.core.errors import StoreCorrupt, Unavailable
from covey.core.nats_names import log_stream, log_subject, told_subjects
from covey.ports.log import Entry, Hear, LogState
from covey.ports.store import Survives

T = TypeVar("T")

SLACK_S: Final = 5.0
"""How much longer the calling thread waits than what it waits for."""
HEADROOM: Final = 4096
"""What headers may take of a message."""
NO_RECORD: Final = b""
"""What stands for a message that did not come to its place by way of `append`."""
OWN: Final = 8
RECORDS: Final = "record/"
"""What the names of large records begin with."""


class NatsLog:
    """`Log`. The stream is made when the first replica asks for it."""

    def __init__(self, link: Link, warn: Callable[[str], None]) -> None:
        self._link = link.share()
        self._settings = link.settings
        self._warn = warn
        self._space = self._settings.space
        self._stream = log_stream(self._space)
        self._own: deque[str] = deque(maxlen=OWN)
        """The ids of the records that were added here lately."""
        self._turns: Turns | None = None
        self._is_closed = False
        self.name = self._settings.name

    @property
    def author(self) -> str | None:
        return author_of(self._link.account.principal)

    def survives(self) -> Survives:
        state = self._call(self._state)
        return survives(1 if state is None else state.replicas, sync_of(self._settings))

    def state(self, at_least: int = 0) -> LogState | None:
        state = self._call(lambda client: self._state(client, at_least))
        return None if state is None else LogState(state.created, state.first, state.last)

    def make(self) -> None:
        self._call(self._make)

    def append(self, record: bytes, expected: int, record_id: str) -> int | None:
        headers = {"Nats-Msg-Id": record_id, **marks(self._stream, expected)}
        self._own.append(record_id)
        if len(record) > self._link.account.max_payload - HEADROOM:
            # By its hash, so that nobody can put something else in its place.
            headers[LARGE] = f"{RECORDS}{sha256(record).hexdigest()}"
            self._call(lambda client: self._put_large(client, headers[LARGE], record))
            return self._call(lambda client: self._append(client, b"", headers, expected))
        return self._call(lambda client: self._append(client, record, headers, expected))

    def after(self, position: int, limit: int) -> Sequence[Entry] | None:
        found = self._call(lambda client: self._after(client, position, limit))
        if found and found[0].seq > position + 1:
            return None
        return [self._entry(message) for message in found]

    def listen(self, hear: Hear) -> Callable[[], None]:
        subscription = self._call(lambda client: self._listen(client, hear))
        forgets = [self._link.on_disconnect(lambda: hear(None)), self._link.on_reconnect(lambda: hear(None))]

        def stop() -> None:
            for forget in forgets:
                forget()
            if not self._is_closed:
                self._call(lambda _client: subscription.unsubscribe())

        return stop

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._link.release()

    async def _state(self, client: Client, at_least: int = 0):
        behind = None

        async def attempt(limit_s: float):
            nonlocal behind
            found = await stream_state(client, self._space, limit_s)
            if found is not None and found.last < at_least:
                behind = found
                raise TimeoutError("a leader that was cut off believes for a while that it still leads")
            return found

        try:
            return await self._patience(client).insist(attempt)
        except Exhausted:
            if behind is None:
                raise
            return behind

    async def _after(self, client: Client, position: int, count: int) -> Sequence[Stored]:
        async def attempt(limit_s: float) -> Sequence[Stored]:
            return await records_after(client, self._space, position, count, limit_s)

        return await self._patience(client).insist(attempt)

    async def _make(self, client: Client) -> None:
        config, account = log_config(self._space), self._link.account
        await self._patience(client).insist(lambda _limit_s: ensure(client, config, self._settings, account))

    async def _put_large(self, client: Client, name: str, content: bytes) -> None:
        bulk, account = Bulk(client, self._settings), self._link.account

        async def attempt(_limit_s: float) -> None:
            await bulk.make(account)
            await bulk.put(name, content, is_owner=account.is_owner)

        await self._patience(client).insist(attempt)

    async def _append(self, client: Client, record: bytes, headers: Mapping[str, str], expected: int) -> int | None:
        principal = self._link.account.principal
        subject = log_subject(self._space, principal)
        patience = self._patience(client)
        await self._link.settled()
        turns = self._turns = self._turns or Turns(self._space)  # here because it belongs to the link's loop
        await turns.hold_back(client)

        async def attempt(limit_s: float) -> int | None:
            try:
                return await publish(client, subject, record, headers, limit_s)
            except nats.errors.NoRespondersError:
                if await stream_state(client, self._space, limit_s) is None:
                    return None  # there is nothing to add to, as whoever looks will find
                raise
            except nats.js.errors.APIError as error:
                if error.err_code not in WRONG_LAST_SEQUENCE:
                    raise
            if patience.tries == 1:
                return None
            # One of the tries before may have got through without an answer.
            there = await records_after(client, self._space, expected, 1, limit_s)
            if not there or there[0].seq != expected + 1:
                raise TimeoutError("what was added is not there yet")
            return expected + 1 if there[0].headers.get("Nats-Msg-Id") == headers["Nats-Msg-Id"] else None

        position = await patience.insist(attempt)
        await turns.tell(client, principal, is_lost=position is None)
        return position

    async def _listen(self, client: Client, hear: Hear):
        async def told(message: Msg) -> None:
            if not self._is_own(message):
                hear(self._heard(message))

        subscription = await subscribed(client, told_subjects(self._space), told)
        await client.flush()  # from now on, and not from when the server gets to it
        return subscription

    def _is_own(self, message: Msg) -> bool:
        """Tell whether this program added the record itself, and so knows of it without being told."""
        return cast(Mapping[str, str], message.headers or {}).get("Nats-Msg-Id") in self._own

    def _heard(self, message: Msg) -> Entry | None:
        """Return what the server tells of; None where it is better to look, also because somebody else may say it."""
        headers = cast(Mapping[str, str], message.headers or {})
        position = headers.get("Nats-Sequence", "")
        if headers.get("Nats-Stream") != self._stream or not position.isdecimal() or LARGE in headers:
            return None
        if not is_genuine(headers, self._stream, int(position)):
            return None
        return Entry(int(position), message.data, author_of(headers.get("Nats-Subject", "")))

    def _entry(self, message: Stored) -> Entry:
        author = author_of(message.subject)
        if not is_genuine(message.headers, self._stream, message.seq):
            return Entry(message.seq, NO_RECORD, author)
        name = message.headers.get(LARGE)
        if name is None:
            return Entry(message.seq, message.data, author)
        content = self._call(lambda client: Bulk(client, self._settings).get(name))
        if content is None or f"{RECORDS}{sha256(content).hexdigest()}" != name:
            raise StoreCorrupt(self.name, f"the content of record {message.seq} is missing, or another one")
        return Entry(message.seq, content, author)

    def _patience(self, client: Client) -> Patience:
        return Patience(client, self._settings.limit_s, self._say_waiting)

    def _say_waiting(self) -> None:
        self._warn(f"{self.name} does not answer; trying for up to {self._settings.limit_s:g} s")

    def _call(self, do: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        try:
            return self._link.call(do, self._settings.limit_s + SLACK_S)
        except Exhausted as error:
            if error.was_sent:
                known = "whether it was accepted is not known; send again with the same id"
            else:
                known = "nothing was accepted"
            reason = f"{self.name} did not answer in {self._settings.limit_s:g} s: {known}"
            raise Unavailable(reason, servers=self._settings.shown, was_sent=error.was_sent) from error.cause
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise explained(error, self._settings) from error
