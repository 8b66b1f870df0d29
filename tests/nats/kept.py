"""Publishing to an inbox when a stream exists that keeps it."""

import asyncio

from nats.aio.client import Client
from nats.errors import NoRespondersError


async def until_kept(broker: Client, goal: str, payload: bytes) -> None:
    """Publish a message to an inbox until the stream has it."""
    while True:
        try:
            acknowledged = await broker.request(f"agent.inbox.{goal}", payload, timeout=1)
            assert b"AGENT_INBOX" in acknowledged.data
            return
        except (NoRespondersError, TimeoutError):
            await asyncio.sleep(0.05)
