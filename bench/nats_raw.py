"""The baseline on NATS: the bare client, on a separate stream. `python -m bench.nats_raw SERVER COUNT` listens."""

import asyncio
import subprocess
import sys
import time
from typing import Any
from uuid import uuid4

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import StreamConfig

from bench.figures import percentile

RECORD = b"x" * 1024
STREAM = "raw"
STORED = "raw.stored"
PLAIN = "plain"


async def connected(server: str) -> Any:
    """Return a connected client. Its type is `Any` because the client is only partly typed."""
    client = Client()
    await client.connect(server)
    return client


async def publishes(server: str, in_flight: int, seconds: float) -> dict[str, float]:
    """Publish records of 1 KB with an id, `in_flight` at a time, and await each acknowledgement.

    Return count and latencies.
    """
    client = await connected(server)
    stream = client.jetstream(publish_async_max_pending=in_flight)
    await stream.add_stream(StreamConfig(name=STREAM, subjects=[STORED]))
    took: list[float] = []
    ends_at = time.perf_counter() + seconds

    async def publisher() -> None:
        while (began := time.perf_counter()) < ends_at:
            await (await stream.publish_async(STORED, RECORD, headers={"Nats-Msg-Id": uuid4().hex}))
            took.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(publisher() for _ in range(in_flight)))
    elapsed = time.perf_counter() - began
    await client.close()
    return {"count": len(took), "elapsed": elapsed, "p50": percentile(took, 0.5), "p99": percentile(took, 0.99)}


async def pushes(server: str, count: int) -> list[float]:
    """Publish without storing, one message at a time. Return the time until each message arrived in another process."""
    client = await connected(server)
    command = [sys.executable, "-m", "bench.nats_raw", server, str(count)]
    receiver = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert receiver.stdout is not None
    await receiver.stdout.readline()
    took: list[float] = []
    for _ in range(count):
        sent = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        await client.publish(PLAIN, RECORD)
        took.append((int(await receiver.stdout.readline()) - sent) / 1e9)
    await receiver.wait()
    await client.close()
    return took


async def listen(server: str, count: int) -> None:
    """Print the time at which each message arrives."""
    client = await connected(server)
    is_over = asyncio.Event()
    heard = 0

    async def hear(_message: Msg) -> None:
        nonlocal heard
        print(time.clock_gettime_ns(time.CLOCK_MONOTONIC), flush=True)
        heard += 1
        if heard == count:
            is_over.set()

    await client.subscribe(PLAIN, cb=hear)
    await client.flush()
    await client.flush()  # the first flush overtakes the data that the client still buffers
    print("ready", flush=True)
    await is_over.wait()
    await client.close()


if __name__ == "__main__":
    asyncio.run(listen(sys.argv[1], int(sys.argv[2])))
