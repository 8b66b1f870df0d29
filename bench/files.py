"""Shared folders: a durable send compared with a bare file write, wake-ups, and the cost of an archive."""

import asyncio
import json
import os
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path

import covey
from bench.figures import Row, ms, per_second, percentile
from bench.sends import ROOMY
from covey.core.coroutine import finish
from covey.core.names import AgentName
from covey.engines import connect_inline, parse_store_url
from covey.services.space import Services

TEXT = "x" * 1024
CONTENT = json.dumps({"body": TEXT}).encode()
SENDERS = 64
SLICES = 10
"""Number of time slices. In each slice, first the bare writer and then the senders use the disk alone."""
PENDING = 10


def raw_file(folder: Path, content: bytes) -> None:
    """Write a file durably: write, sync, rename, and sync the folder."""
    name = uuid.uuid4().hex
    descriptor = os.open(folder / f".{name}.tmp", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, content)
    os.fsync(descriptor)
    os.close(descriptor)
    (folder / f".{name}.tmp").rename(folder / f"{name}.json")
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(descriptor)
    os.close(descriptor)


async def by_turns(folder: Path, layout: str, seconds: float) -> tuple[list[float], list[float]]:
    """Write a bare file and send a message alternately, one at a time. Return the durations of both."""
    bare: list[float] = []
    sent: list[float] = []
    raw = folder / f"raw-{layout}"
    raw.mkdir()
    async with covey.open(f"files:{folder}/{layout}?layout={layout}") as space:
        await space.join("sink", card=ROOMY)
        me = await space.join("sender")
        ends_at = time.perf_counter() + seconds
        while (began := time.perf_counter()) < ends_at:
            raw_file(raw, CONTENT)
            between = time.perf_counter()
            await me.send("sink", TEXT)
            bare.append(between - began)
            sent.append(time.perf_counter() - between)
    return bare, sent


async def at_once(folder: Path, seconds: float, senders: int) -> tuple[float, float]:
    """Return the files a second of one bare writer, and the messages a second of `senders` concurrent senders."""
    raw = folder / "raw-crowd"
    raw.mkdir()
    sent = written = 0
    async with covey.open(f"files:{folder}/crowd?layout=dialogue") as space:
        await space.join("sink", card=ROOMY)
        me = await space.join("sender")

        async def send(ends_at: float) -> None:
            nonlocal sent
            while time.perf_counter() < ends_at:
                await me.send("sink", TEXT)
                sent += 1

        for _ in range(SLICES):
            ends_at = time.perf_counter() + seconds / SLICES / 2
            while time.perf_counter() < ends_at:
                raw_file(raw, CONTENT)
                written += 1
            ends_at = time.perf_counter() + seconds / SLICES / 2
            async with asyncio.TaskGroup() as group:
                for _ in range(senders):
                    group.create_task(send(ends_at))
    return written / (seconds / 2), sent / (seconds / 2)


def files_send(folder: Path, seconds: float) -> Row:
    """Measure one sender that waits for each message, alternating with one bare writer; then many senders at once."""
    figures: dict[str, float] = {}
    for layout in ("dialogue", "mailbox"):
        bare, sent = asyncio.run(by_turns(folder, layout, seconds))
        figures |= {layout: percentile(sent, 0.5), f"{layout}_raw": percentile(bare, 0.5)}
    raw, rate = asyncio.run(at_once(folder, seconds, SENDERS))
    alone = [figures[f"{layout}_raw"] / figures[layout] for layout in ("dialogue", "mailbox")]
    return Row(
        f"durable send into a shared folder, 1 KB, {SENDERS} senders at once; one alone, dialogue; mailbox",
        f"{per_second(rate)} (raw {per_second(raw)}); "
        f"p50 {ms(figures['dialogue'])} (raw {ms(figures['dialogue_raw'])}); "
        f"{ms(figures['mailbox'])} (raw {ms(figures['mailbox_raw'])})",
        f"{rate / raw:.2f} ×; {alone[0]:.2f} ×; {alone[1]:.2f} × raw write + fsync + rename + fsync of the folder",
        "at least 0.4 ×",
        {**figures, "rate": rate, "raw": raw},
    )


def foreign_message(n: int, phase: str = "bench") -> tuple[str, bytes]:
    """Return the name and content of a file as a foreign program writes it."""
    now = datetime.now(UTC)
    message_id = f"{int(now.timestamp() * 1000)}-{uuid.uuid4()}"
    message = {
        "id": message_id,
        "from": "np-critic",
        "to": "np-executor",
        "phase": phase,
        "round": 1,
        "kind": "notify",
        "subject": None,  # a later message with the same subject would replace it
        "body": f"{n} {time.clock_gettime_ns(time.CLOCK_MONOTONIC)}",
        "expects_reply": False,
        "in_reply_to": None,
        "created_at": now.isoformat(),
    }
    return f"{message_id}.json", json.dumps(message).encode()


async def waking(root: Path, repeats: int) -> list[float]:
    """Put files one by one into the inbox of a waiting member. Return the time until each file woke the member."""
    took: list[float] = []
    async with covey.open(f"files:{root}?layout=dialogue") as space:
        me = await space.join("np-executor")
        inbox = root / "inbox" / "np-executor"
        inbox.mkdir(parents=True, exist_ok=True)
        for number in range(repeats):
            waiter = asyncio.create_task(me.inbox.next(timeout=30))
            await asyncio.sleep(0.06)  # longer than the time in which a new change could be mistaken for the last one
            name, content = foreign_message(number)
            (inbox / f".{name}.tmp").write_bytes(content)
            began = time.perf_counter()
            (inbox / f".{name}.tmp").rename(inbox / name)
            delivery = await waiter
            took.append(time.perf_counter() - began)
            if delivery is None or not delivery.text.startswith(f"{number} "):
                raise SystemExit("something else came")
            await delivery.handle()
    return took


def files_wake(folder: Path, repeats: int) -> Row:
    took = asyncio.run(waking(folder / "space", repeats))
    p50, p99 = percentile(took, 0.5), percentile(took, 0.99)
    return Row(
        "foreign file in the folder → our reader awake",
        f"p50 {ms(p50)}, p99 {ms(p99)}",
        "–",
        "reported",
        {"p50": p50, "p99": p99},
    )


class Shared:
    """A folder with 9 pending messages and `archived` archived ones, all written by a foreign program."""

    def __init__(self, root: Path, archived: int) -> None:
        self._inbox, self._archive = root / "inbox" / "np-executor", root / "archive"
        self._inbox.mkdir(parents=True)
        self._archive.mkdir()
        for folder, count in ((self._archive, archived), (self._inbox, PENDING - 1)):
            for number in range(count):
                name, content = foreign_message(number)
                (folder / name).write_bytes(content)
        self._ports = connect_inline(parse_store_url(f"files:{root}?layout=dialogue&synchronous=normal"), ())
        self._services = Services(self._ports)
        began = time.perf_counter()
        self.look(PENDING - 1)
        self.first = time.perf_counter() - began
        """Duration of the first look at the folder."""

    def look(self, pending: int) -> None:
        found = len(finish(self._services.inbox.peek(AgentName("np-executor"))))
        if found != pending:
            raise SystemExit(f"{found} pending instead of {pending}")

    def reconcile(self, number: int) -> float:
        """Return the total duration of two looks: one after a file arrived, one after the file was archived."""
        time.sleep(0.06)  # longer than the time in which a new change could be mistaken for the last one
        name, content = foreign_message(number)
        (self._inbox / name).write_bytes(content)
        began = time.perf_counter()
        self.look(PENDING)
        came = time.perf_counter() - began
        (self._inbox / name).rename(self._archive / name)
        began = time.perf_counter()
        self.look(PENDING - 1)
        return came + time.perf_counter() - began

    def close(self) -> None:
        finish(self._ports.close())


def files_growth(folder: Path, many: int, repeats: int) -> Row:
    """Look at a large folder and at a small one alternately."""
    large, small = Shared(folder / "many", many), Shared(folder / "few", 100)
    took = [(large.reconcile(number), small.reconcile(number)) for number in range(repeats)]
    p50, base = (percentile([pair[n] for pair in took], 0.5) for n in (0, 1))
    large.close()
    small.close()
    return Row(
        f"reconcile a folder with {PENDING} pending and {many:,} archived",
        f"p50 {ms(p50)}; with 100 archived {ms(base)}; the first sight of all {large.first:.1f} s",
        f"{p50 / base:.2f} × the same with 100",
        "at most 1.5 ×",
        {"many": p50, "few": base, "first_s": large.first},
    )
