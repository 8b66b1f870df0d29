"""Appends to the log of a space on NATS, each directly behind the last record that its writer has seen."""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final, cast

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from covey.adapters.nats.client.link import Link
from covey.adapters.nats.client.requests import (
    LOOK_S,
    WRONG_LAST_SEQUENCE,
    PendingRequests,
    StreamMessage,
    ask,
    from_leader,
    is_no_responders,
    stored_at,
    subscribed,
)
from covey.adapters.nats.client.retries import IN_PROCESS, TRY_S, Retries, RetriesExhausted, ServerCutOff, is_temporary
from covey.adapters.nats.log.object_store import ObjectStore
from covey.adapters.nats.log.streams import LARGE, position_headers, stream_state
from covey.core.formats.nats_names import SpaceName, log_stream, log_subject, want_subject, want_subjects

LOST: Final = 2
"""Lost conflicts in a row after which a process asks for priority."""
HOLD_S: Final = 0.1
"""Longest time for which a record is held back, and for which a request for priority counts."""


class Fairness:
    """Fairness between processes that conflict: a process yields to those that have lost more often. One object for a
    process; on the link's loop."""

    def __init__(self, space: SpaceName) -> None:
        self._space = space
        self._id = os.urandom(8).hex()
        self._lost = 0
        self._is_listening = False
        self._wishes: dict[str, tuple[int, float]] = {}
        """Lost conflicts of each other process, and the end of its priority."""
        self._changed = asyncio.Event()

    def is_calm(self) -> bool:
        """Tell whether no process is known to have lost a conflict lately. Then an append needs neither a wait nor a
        notice."""
        return self._is_listening and not self._lost and not self._until(asyncio.get_running_loop().time())

    async def hold_back(self, client: Client) -> None:
        """Wait while another process has lost more often than this one, for at most `HOLD_S`."""
        if not self._is_listening:
            self._is_listening = True
            await subscribed(client, want_subjects(self._space), self._hear)
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + HOLD_S
        while (until := min(ends_at, self._until(loop.time()))) > loop.time():
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._changed.wait()

    async def tell(self, client: Client, principal: str, *, is_lost: bool) -> None:
        """Count the result of an append, and ask for priority after too many lost conflicts."""
        had_asked = self._lost >= LOST
        self._lost = self._lost + 1 if is_lost else 0
        if had_asked or self._lost >= LOST:
            with suppress(nats.errors.Error, OSError):  # the message is only a hint
                await client.publish(want_subject(self._space, principal), f"{self._id} {self._lost}".encode())

    def _until(self, now: float) -> float:
        """Return the end of the latest priority of another process; 0.0 if there is none."""
        return max((until for lost, until in self._wishes.values() if lost > self._lost and until > now), default=0.0)

    async def _hear(self, message: Msg) -> None:
        who, _, lost = message.data.decode("ascii", "replace").partition(" ")
        if who == self._id or not lost.isdecimal() or len(lost) > 6 or len(who) != len(self._id):
            return
        now = asyncio.get_running_loop().time()
        self._wishes = {name: wish for name, wish in self._wishes.items() if wish[1] > now and name != who}
        if int(lost):
            self._wishes[who] = int(lost), now + HOLD_S
        self._changed.set()


HEADROOM: Final = 4096
"""Bytes of a message that are reserved for headers."""
QUICK_S: Final = 1.0
"""Timeout of the first try, which has no retries."""
ON_ITS_WAY_S: Final = (0.002, 0.01, 0.05, 0.2)
"""Pauses between reads of a record that the leader knows but has not stored yet."""
OWN: Final = 8
RECORDS: Final = "record/"
"""Prefix of the object names of large records."""

Then = Callable[[int | None, BaseException | None], None]
"""Receives the position of the record, None after a conflict, or the error."""


class AppendUnconfirmed(RetriesExhausted):
    """The time limit has passed, and the record may be in the log."""


class Appender:
    """The appends of one process; on the link's loop."""

    def __init__(self, link: Link, patience: Callable[[Client], Retries]) -> None:
        self._link = link
        self._patience = patience
        self._settings = link.settings
        self._space = link.settings.space
        self._stream = log_stream(self._space)
        self._own: deque[str] = deque(maxlen=OWN)
        """Ids of the records that this process appended last."""
        self._refused_at = -1
        self._turns: Fairness | None = None
        self._answers: PendingRequests | None = None

    def is_own(self, message: Msg) -> bool:
        """Tell whether this process appended the record, and so needs no notice of it."""
        return cast(Mapping[str, str], message.headers or {}).get("Nats-Msg-Id") in self._own

    def try_at_once(self, record: bytes, expected: int, record_id: str, limit_s: float, then: Then) -> None:
        """Append a record, first without a task and without retries: that is faster, and nearly always enough."""
        link, answers, turns = self._link, self._answers, self._turns

        def insist(tries: int) -> None:
            link.start(lambda client: self.add(client, record, expected, record_id, tries), limit_s, then)

        async def lost(client: Client) -> None:
            if turns is not None:
                await turns.tell(client, link.account.principal, is_lost=True)

        def answered(answer: Msg | None) -> None:
            try:
                position = None if answer is None or is_no_responders(answer) else stored_at(answer)
            except nats.js.errors.APIError as error:
                if error.err_code in WRONG_LAST_SEQUENCE and self._is_new(expected):
                    link.start(lost, limit_s, then)
                    return
                position = None
            except Exception:  # noqa: BLE001 - the retry meets the error again, and the caller needs a result
                position = None
            if position is None:
                insist(1)
            else:
                then(position, None)

        is_free = not link.owes and turns is not None and turns.is_calm() and not self._is_large(record)
        if answers is None or not is_free or not answers.is_ready(link.client, len(record)):
            insist(0)
            return
        self._own.append(record_id)
        headers = {"Nats-Msg-Id": record_id, **position_headers(self._stream, expected)}
        try:
            answers.ask(log_subject(self._space, link.account.principal), record, headers, QUICK_S, answered)
        except Exception:  # noqa: BLE001 - as above
            insist(1)

    async def add(self, client: Client, record: bytes, expected: int, record_id: str, tries: int = 0) -> int | None:
        """Append a record after `tries` earlier tries. Return its position, or None after a conflict."""
        headers = {"Nats-Msg-Id": record_id, **position_headers(self._stream, expected)}
        self._own.append(record_id)
        if self._is_large(record):
            # Named by its hash, so that no other content can take its place.
            headers[LARGE] = f"{RECORDS}{sha256(record).hexdigest()}"
            await self._put_large(client, headers[LARGE], record)
            record = b""
        return await self._append(client, record, headers, expected, tries)

    def _is_large(self, record: bytes) -> bool:
        return len(record) > self._link.account.max_payload - HEADROOM

    async def _append(
        self, client: Client, record: bytes, headers: Mapping[str, str], expected: int, tries: int
    ) -> int | None:
        principal = self._link.account.principal
        subject = log_subject(self._space, principal)
        patience = self._patience(client)
        patience.tries = tries
        await self._link.settled()
        turns = self._turns = self._turns or Fairness(self._space)  # created here because it belongs to the link's loop
        await turns.hold_back(client)
        answers = await self._answers_of(client)

        async def attempt(limit_s: float) -> int | None:
            try:
                return stored_at(await answers.request(subject, record, headers, limit_s))
            except nats.errors.NoRespondersError:
                if await stream_state(client, self._space, limit_s) is None:
                    return None  # the stream is missing, which the next read of the log reports
                raise
            except TimeoutError as silence:
                raise (ServerCutOff() if await self._is_cut_off(client) else silence) from silence
            except nats.js.errors.APIError as error:
                if is_temporary(error) and (error.err_code != IN_PROCESS or patience.is_long):
                    raise ServerCutOff from error  # the leader answers, but can't store the record
                if error.err_code not in WRONG_LAST_SEQUENCE:
                    raise
            if patience.tries == 1 and self._is_new(expected):
                return None
            # An earlier try may have been stored without a reply.
            first = await self._first_after(client, expected, limit_s)
            if first is None:
                raise (ServerCutOff if patience.is_long else TimeoutError)("the next record can't be read")
            return expected + 1 if first.headers.get("Nats-Msg-Id") == headers["Nats-Msg-Id"] else None

        try:
            position = await patience.insist(attempt)
        except RetriesExhausted as error:
            raise (AppendUnconfirmed if error.was_sent else RetriesExhausted)(
                error.cause, was_sent=error.was_sent
            ) from error.cause
        await turns.tell(client, principal, is_lost=position is None)
        return position

    def _is_new(self, expected: int) -> bool:
        """Tell whether this is the first conflict in a row at this position. A second one suggests that there is no
        record at the position: a leader that has lost its cluster still refuses because of a record that it can't
        store."""
        is_new = expected != self._refused_at
        self._refused_at = expected
        return is_new

    async def _first_after(self, client: Client, expected: int, limit_s: float) -> StreamMessage | None:
        """Return the record after `expected`, because of which the leader reported a conflict. The record may not be
        stored yet; None if it does not appear."""
        for pause_s in ON_ITS_WAY_S:
            try:
                found = await from_leader(client, self._stream, {"seq": expected + 1}, limit_s)
            except (nats.errors.Error, TimeoutError) as error:
                if not is_temporary(error):
                    raise
                return None
            if found is not None:
                return found
            await asyncio.sleep(pause_s)
        return None

    async def _is_cut_off(self, client: Client) -> bool:
        """Tell whether the stream's leader has lost contact with most of its replicas; used after an append without a
        reply. Without a leader an election is running, which ends whichever server the client waits on."""
        try:
            info = await ask(client, f"STREAM.INFO.{self._stream}", None, LOOK_S)
        except (nats.errors.Error, TimeoutError):
            return False
        cluster = cast(dict[str, Any], info.get("cluster") or {})
        others = cast(Sequence[Mapping[str, Any]], cluster.get("replicas") or ())
        heard = sum(other["active"] < TRY_S * 1e9 for other in others)
        return 2 * (heard + 1) <= len(others) + 1

    async def _answers_of(self, client: Client) -> PendingRequests:
        if self._answers is None or self._answers.client is not client:
            answers = PendingRequests(client)
            await answers.listen()
            self._answers = answers
        return self._answers

    async def _put_large(self, client: Client, name: str, content: bytes) -> None:
        bulk, account = ObjectStore(client, self._settings), self._link.account

        async def attempt(_limit_s: float) -> None:
            await bulk.make(account)
            await bulk.put(name, content, is_owner=account.is_owner)

        await self._patience(client).insist(attempt)
