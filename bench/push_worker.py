"""The receiving process of the push bench: prints the time at which each message arrives."""

import asyncio
import sys
import time

import covey


async def receive(url: str, count: int) -> None:
    async with covey.open(url) as space:
        me = await space.join("receiver")
        print("ready", flush=True)
        for _ in range(count):
            delivery = await me.inbox.next(30)
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            if delivery is None:
                raise SystemExit("nothing came")
            print(now, delivery.text, flush=True)


def main() -> None:
    asyncio.run(receive(sys.argv[1], int(sys.argv[2])))


if __name__ == "__main__":
    main()
