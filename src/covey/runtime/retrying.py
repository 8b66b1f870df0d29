"""Retries: a store that is unavailable for a while is tried again, with a backoff."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from covey.core.backoff import Backoff
from covey.core.errors import Unavailable

USUAL: Final = Backoff(first=0.05, longest=5.0)
"""Seconds."""

T = TypeVar("T")


async def retried(call: Callable[[], Awaitable[T]], tell: Callable[[str], None], backoff: Backoff = USUAL) -> T:
    """Return the result of `call`, which is made again while it raises an Unavailable that may pass. Every failure is
    told; an error that can't pass is raised."""
    pauses = backoff.pauses()
    while True:
        try:
            return await call()
        except Unavailable as error:
            if not error.retryable:
                raise
            tell(error.message)
        await asyncio.sleep(next(pauses))
