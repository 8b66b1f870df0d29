"""The load of many agents on NATS, at a small scale: the cost of a message, and a check of the model that predicts it.

`python -m bench.nats_shape [--messages N]` plays the turns of agents. In a turn, an agent is offered its mail, handles
it, replies to requests, and sends. After a fifth of the messages, the bench predicts the sizes for all of them, plays
on and compares. Then new machines build their replica, several machines write at the same time, and many spaces share
the server.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import apsw

import covey
from bench.figures import machine
from bench.nats import memory_of, space, streams
from bench.sends import make_sink
from bench.workers import together
from covey.adapters.sqlite.replica.snapshots import keep
from covey.core.formats.nats_names import SpaceName, snapshot_stream
from covey.engines import parse_store_url
from covey.engines.nats_ports import fetch_all, opener
from covey.surfaces.python.member import Member
from tests.nats.servers import NatsServer, one_node

AGENTS = 200
AT_ONCE = 32
"""Number of agents that take their turn at the same time."""
WORDS = (Path(__file__).parents[1] / "README.md").read_text().split()


class Sizes(NamedTuple):
    """The sizes of a space."""

    messages: int
    records: int
    log: float
    """Size before compression; the server compresses the log on disk."""
    replica: float
    search: float


class Life:
    """Agents that take turns in one process."""

    def __init__(self, members: list[Member], random: Random) -> None:
        self._members = members
        self._random = random
        self.messages = 0

    async def go_on(self, until: int) -> None:
        """Play turns until `until` messages were sent."""
        turns = self._turns(until)

        async def player() -> None:
            for member in turns:
                await self._turn(member)

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(player())

    def _turns(self, until: int) -> Iterator[Member]:
        while self.messages < until:
            for member in self._members:
                if self.messages >= until:
                    return
                yield member

    async def _turn(self, me: Member) -> None:
        showing = await me.offer("turn", limit=16)
        for item in showing.items if showing is not None else ():
            if item.delivery.expects_reply:
                self.messages += 1
                await me.reply(item.message.id, self._text(), close=True)
            else:
                await me.handle(item.message.id)
        chance = self._random.random()
        to = self._random.sample([member.name for member in self._members], 5 if chance < 0.05 else 1)
        self.messages += 1
        await me.send(to, self._text(), kind="request" if chance > 0.75 else "notify")

    def _text(self) -> str:
        """Return about 600 letters of text with as much repetition as ordinary texts have."""
        return " ".join(self._random.choices(WORDS, k=100))


async def played(server: NatsServer, url: str, folder: Path, messages: int) -> tuple[Sequence[Sizes], float]:
    """Play turns. Return the sizes after a tenth, a fifth and all of the messages, and the messages a second."""
    found: list[Sizes] = []
    async with covey.open(url) as opened:
        members = [await opened.join(f"agent-{n}") for n in range(AGENTS)]
        life = Life(members, Random(8))
        began = time.perf_counter()
        for part in (10, 5, 1):
            await life.go_on(messages // part)
            await opened.search("nothing")  # updates the search index to the state of the replica
            found.append(sizes(server, folder, life.messages))
        return found, life.messages / (time.perf_counter() - began)


def sizes(server: NatsServer, folder: Path, messages: int) -> Sizes:
    log = streams(server)["covey_shape"]
    replica = folder / "here" / "shape"
    index = [path for path in replica.iterdir() if "search" in path.name and not path.name.endswith(("-wal", "-shm"))]
    return Sizes(
        messages,
        log["last_seq"],
        log["bytes"],
        _pages(replica / "covey.db"),
        sum(map(_pages, index)),
    )


def _pages(path: Path) -> float:
    """Return the bytes in use of a database, including pages that are still in its WAL."""
    connection: Any = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        pragmas = ("page_count", "freelist_count", "page_size")
        count, free, size = (connection.pragma(name) for name in pragmas)
        return float((count - free) * size)
    finally:
        connection.close()


def predicted(first: Sizes, second: Sizes, messages: int) -> Sizes:
    """Extrapolate the sizes to `messages`, from the cost of a message between two measurements."""
    scale = (messages - first.messages) / (second.messages - first.messages)
    grown = [before + (now - before) * scale for before, now in zip(first[1:], second[1:], strict=True)]
    return Sizes(messages, int(grown[0]), *grown[1:])


def beginning(url: str) -> float:
    """Return the time that a machine needs to fetch the whole space."""
    began = time.perf_counter()
    fetch_all(parse_store_url(url))
    return time.perf_counter() - began


def snapshots(server: NatsServer, url: str, folder: Path) -> tuple[float, float, float]:
    """Return the time to keep a snapshot, its size, and the time that a new machine needs to start from it."""
    replica = opener(parse_store_url(url), str(folder / "here" / "shape" / "covey.db"), lambda _: None)()
    try:
        assert replica.snapshots is not None
        before = _objects(server)
        began = time.perf_counter()
        keep(replica.path, replica.snapshots)
        took = time.perf_counter() - began
        size = _objects(server) - before
        for _ in range(2):  # the log is purged up to the snapshot before the newest
            asyncio.run(_add_something(url))
            replica.refresh()
            keep(replica.path, replica.snapshots)
    finally:
        replica.close()
    return took, size, beginning(space(server, "shape", folder, "late"))


async def _add_something(url: str) -> None:
    async with covey.open(url) as opened:
        await opened.join("late")


def _objects(server: NatsServer) -> float:
    return sum(state["bytes"] for name, state in streams(server).items() if name == snapshot_stream(SpaceName("shape")))


def writing(server: NatsServer, folder: Path, machines: int, senders: int, seconds: float) -> dict[str, float]:
    """Let machines write to one space at the same time. Return the total messages a second, among other figures."""
    name = f"write{machines}x{senders}"
    asyncio.run(make_sink(space(server, name, folder)))
    before = streams(server)[f"covey_{name}"]["last_seq"]
    urls = [space(server, name, folder, f"machine{n}") for n in range(machines)]
    sent = together(
        "bench.send_worker", [[url, f"sender{n}", str(senders), str(seconds)] for n, url in enumerate(urls)], 3.0
    )
    records = streams(server)[f"covey_{name}"]["last_seq"] - before
    rates = [worker["count"] / worker["elapsed"] for worker in sent]
    return {
        "machines": machines,
        "senders": senders,
        "rate": sum(rates),
        "slowest": min(rates),
        "records": records / seconds,
        "p50": max(worker["p50"] for worker in sent),
        "p99": max(worker["p99"] for worker in sent),
    }


def many_spaces(folder: Path, count: int) -> dict[str, float]:
    """Create many spaces on a new server. Return the cost of each for the server."""
    with one_node(folder / "others") as server:
        before = memory_of(server)
        for n in range(count):
            asyncio.run(make_sink(space(server, f"many{n}", folder)))
        return {
            "spaces": count,
            "streams_each": len(streams(server)) / count,
            "memory_each": (memory_of(server) - before) / count,
        }


def log_on_disk(folder: Path) -> float:
    return float(sum(path.stat().st_size for path in (folder / "server").rglob("covey_shape/msgs/*.blk")))


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.nats_shape", description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--spaces", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="covey-shape-") as name, one_node(Path(name) / "server") as server:
        folder = Path(name)
        url = space(server, "shape", folder)
        (first, second, last), rate = asyncio.run(played(server, url, folder, options.messages))
        told = predicted(first, second, last.messages)
        on_disk, memory = log_on_disk(folder), memory_of(server)
        from_log = beginning(space(server, "shape", folder, "fresh"))
        kept, snapshot, from_snapshot = snapshots(server, url, folder)
        result = {
            "first": first._asdict(),
            "second": second._asdict(),
            "predicted": told._asdict(),
            "measured": last._asdict(),
            "error": {
                name: round(was / said - 1, 3) for name, said, was in zip(Sizes._fields, told, last, strict=True)
            },
            "rate": rate,
            "log_on_disk": on_disk,
            "server_memory": memory,
            "from_log_s": from_log,
            "keep_s": kept,
            "snapshot_bytes": snapshot,
            "from_snapshot_s": from_snapshot,
            "writing": [
                writing(server, folder, machines, senders, options.seconds)
                for machines, senders in ((1, 1), (2, 1), (4, 1), (1, 64), (2, 32), (4, 16))
            ],
            "spaces": many_spaces(folder, options.spaces),
            "machine": machine(),
        }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
