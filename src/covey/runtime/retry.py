"""Retries of an unavailable store, with a backoff."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from covey.core.backoff import Backoff
from covey.core.errors import Unavailable

USUAL: Final = Backoff(first=0.05, longest=5.0)
"""The default backoff, in seconds."""

T = TypeVar("T")


async def retried(call: Callable[[], Awaitable[T]], tell: Callable[[str], None], backoff: Backoff = USUAL) -> T:
    """Return the result of `call`, repeated while it raises a retryable Unavailable. Every such failure is passed to
    `tell`; other errors are raised."""
    pauses = backoff.pauses()
    while True:
        try:
            return await call()
        except Unavailable as error:
            if not error.retryable:
                raise
            tell(error.message)
        await asyncio.sleep(next(pauses))
