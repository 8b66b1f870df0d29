"""Two programs for two machines: `bob` answers and works; `ann` sends, asks, delegates, and prints the outcomes.

`python -m tests.nats.far ROLE URL`. Both know only the URL and each other's name.
"""

import asyncio
import json
import os
import platform
import sys
from pathlib import Path

import covey
from covey.core.ledger.message import Kind

LIMIT_S = 20.0


async def bob(url: str) -> None:
    """Run until the input ends."""
    async with covey.open(url) as space, asyncio.TaskGroup() as group:
        me = await space.join("bob", card={"description": "lives elsewhere"})
        living = [group.create_task(_read(me)), group.create_task(_work(me))]
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for task in living:
            task.cancel()


async def _read(me: covey.Member) -> None:
    """Answer requests; print notifications."""
    async for delivery in me.inbox:
        if delivery.message.kind is Kind.REQUEST:
            await delivery.reply(f"{platform.node()}: {delivery.text}?", close=True)
        elif delivery.message.kind is Kind.NOTIFY:
            content = await delivery.file(delivery.files[0]) if delivery.files else b""
            print(json.dumps({"text": delivery.text, "file": content.decode()}), flush=True)


async def _work(me: covey.Member) -> None:
    while True:
        work = await me.take(timeout=LIMIT_S)
        if work is not None:
            await work.start()
            await work.complete(f"{work.text}: done on {platform.node()}")


async def ann(url: str) -> None:
    file = Path(os.environ["HOME"]) / "plan.txt"
    file.write_text("what was attached")
    async with covey.open(url, roots=[str(file.parent)]) as space:
        me = await space.join("ann")
        seen = [(agent.name, agent.presence) for agent in await space.agents() if agent.name != "ann"]
        sent = await me.send("bob", "hello", files=[await me.attach(str(file), "text/plain")])
        asked = await me.ask("bob", "where are you", timeout=LIMIT_S)
        task = await me.delegate("bob", "measure it")
        result = await task.result(timeout=LIMIT_S)
        found = [hit.message.text for hit in await space.search("hello")]
        told = {
            "host": platform.node(),
            "seen": seen,
            "delivered": [delivery.agent for delivery in sent.deliveries],
            "answer": asked.answer.text if asked.answer else None,
            "result": result.text if result else None,
            "found": found,
        }
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    asyncio.run({"ann": ann, "bob": bob}[sys.argv[1]](sys.argv[2]))
