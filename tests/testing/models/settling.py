"""Clients that leave no task behind: a stream's generators end in tasks of the event loop, after the stream itself."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

Client = TypeVar("Client")
LIMIT = 10.0


@asynccontextmanager
async def settling(client: AbstractAsyncContextManager[Client]) -> AsyncGenerator[Client]:
    """Close the client, and wait until all its tasks have ended."""
    async with client as opened:
        yield opened
    async with asyncio.timeout(LIMIT):
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
