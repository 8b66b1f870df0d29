"""The log of a space on NATS: one stream, appended to with optimistic concurrency."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, TypeVar, cast

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from covey.adapters.nats.client.errors import explained
from covey.adapters.nats.client.link import Link
from covey.adapters.nats.client.requests import StreamMessage
from covey.adapters.nats.client.retries import Retries, RetriesExhausted, ServerCutOff
from covey.adapters.nats.client.steady import heard_at_once
from covey.adapters.nats.log.appender import RECORDS, Appender, AppendUnconfirmed
from covey.adapters.nats.log.object_store import ObjectStore
from covey.adapters.nats.log.streams import (
    LARGE,
    StreamState,
    author_of,
    ensure,
    is_genuine,
    log_config,
    records_after,
    space_configs,
    stream_state,
    survives,
    sync_of,
)
from covey.core.errors import StoreCorrupt, Unavailable
from covey.core.formats.nats_names import log_stream, told_subjects
from covey.ports.log import AppendCallback, LogEntry, LogState, RecordCallback
from covey.ports.store import Survives

T = TypeVar("T")

ROUNDS: Final = 2
"""Rounds over all servers before a log that is shorter than expected is believed."""
SLACK_S: Final = 5.0
"""Extra time that the calling thread waits beyond the time limit of its work."""
NO_RECORD: Final = b""
"""The record of a message that was not stored at its position by `append`."""


class NatsLog:
    """`Log` on a stream, which `make` creates."""

    def __init__(self, link: Link, warn: Callable[[str], None]) -> None:
        self._link = link.share()
        self._settings = link.settings
        self._warn = warn
        self._space = self._settings.space
        self._stream = log_stream(self._space)
        self._adding = Appender(link, self._patience)
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
        return self._call(lambda client: self._adding.add(client, record, expected, record_id))

    def begin_append(self, record: bytes, expected: int, record_id: str, tell: AppendCallback) -> None:
        def then(position: int | None, error: BaseException | None) -> None:
            tell(position if error is None else self._meaning(error))

        def begin() -> None:
            try:
                self._adding.try_at_once(record, expected, record_id, self._limit_s(), then)
            except Exception as error:  # noqa: BLE001 - passed to `tell`
                then(None, error)

        self._link.post(begin)

    def after(self, position: int, limit: int) -> Sequence[LogEntry] | None:
        found = self._call(lambda client: self._after(client, position, limit))
        if found and found[0].seq > position + 1:
            return None
        return [self._entry(message) for message in found]

    def listen(self, hear: RecordCallback) -> Callable[[], None]:
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
        behind: list[StreamState] = []

        async def attempt(limit_s: float):
            found = await stream_state(client, self._space, limit_s)
            if found is None or found.last >= at_least:
                return found
            behind.append(found)
            if len(behind) >= ROUNDS * len(client.servers):
                return found
            raise ServerCutOff("a leader that was cut off believes for a while that it still leads")

        try:
            found = await self._patience(client).insist(attempt)
        except RetriesExhausted:
            if not behind:
                raise
            return behind[-1]
        if found is not None and self._settings.replicas not in (None, found.replicas):
            await self._spread(client)
            return await stream_state(client, self._space, self._settings.limit_s)
        return found

    async def _spread(self, client: Client) -> None:
        """Change the number of replicas to the one that the settings ask for."""
        account = self._link.account
        if account.is_owner:
            log, *others = space_configs(self._space)
            for config in (*others, log):  # the log last: its replica count shows that all streams were changed
                await self._patience(client).insist(
                    lambda _limit_s, config=config: ensure(client, config, self._settings, account)
                )

    async def _after(self, client: Client, position: int, count: int) -> Sequence[StreamMessage]:
        async def attempt(limit_s: float) -> Sequence[StreamMessage]:
            return await records_after(client, self._space, position, count, limit_s)

        return await self._patience(client).insist(attempt)

    async def _make(self, client: Client) -> None:
        config, account = log_config(self._space), self._link.account
        await self._patience(client).insist(lambda _limit_s: ensure(client, config, self._settings, account))

    async def _listen(self, client: Client, hear: RecordCallback):
        def told(message: Msg) -> None:
            if not self._adding.is_own(message):
                try:
                    hear(self._heard(message))
                except Exception:  # noqa: BLE001 - the client has to read on; the next read of the log meets the error
                    hear(None)

        subscription = await heard_at_once(client, told_subjects(self._space), told)
        await client.flush()  # so that the subscription is active when this returns
        return subscription

    def _heard(self, message: Msg) -> LogEntry | None:
        """Return the log entry of a notice; None if the log has to be read instead, as for a notice that another client
        may have forged."""
        headers = cast(Mapping[str, str], message.headers or {})
        position = headers.get("Nats-Sequence", "")
        if headers.get("Nats-Stream") != self._stream or not position.isdecimal() or LARGE in headers:
            return None
        if not is_genuine(headers, self._stream, int(position)):
            return None
        return LogEntry(int(position), message.data, author_of(headers.get("Nats-Subject", "")))

    def _entry(self, message: StreamMessage) -> LogEntry:
        author = author_of(message.subject)
        if not is_genuine(message.headers, self._stream, message.seq):
            return LogEntry(message.seq, NO_RECORD, author)
        name = message.headers.get(LARGE)
        if name is None:
            return LogEntry(message.seq, message.data, author)
        content = self._call(lambda client: ObjectStore(client, self._settings).get(name))
        if content is None or f"{RECORDS}{sha256(content).hexdigest()}" != name:
            raise StoreCorrupt(self.name, f"the content of record {message.seq} is missing, or does not match its hash")
        return LogEntry(message.seq, content, author)

    def _patience(self, client: Client) -> Retries:
        return Retries(client, self._settings.limit_s, self._say_waiting)

    def _say_waiting(self) -> None:
        self._warn(f"{self.name} does not answer; trying for up to {self._settings.limit_s:g} s")

    def _call(self, do: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        try:
            return self._link.call(do, self._limit_s())
        except (RetriesExhausted, nats.errors.Error, OSError, TimeoutError) as error:
            raise self._meaning(error) from error

    def _limit_s(self) -> float:
        return self._settings.limit_s + SLACK_S

    def _meaning(self, error: BaseException) -> BaseException:
        """Return the Covey error for an error of the client."""
        if isinstance(error, RetriesExhausted):
            is_unknown = isinstance(error, AppendUnconfirmed)
            known = "it is not known whether the commit was accepted" if is_unknown else "nothing was accepted"
            reason = f"{self.name} did not answer in {self._settings.limit_s:g} s: {known}"
            return Unavailable(reason, servers=self._settings.shown, is_unknown=is_unknown)
        if isinstance(error, (nats.errors.Error, OSError, TimeoutError)):
            return explained(error, self._settings)
        return error
