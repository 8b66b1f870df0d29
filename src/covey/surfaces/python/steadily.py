"""Steadily: a store that can't be used for a moment is asked again, in growing intervals."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from covey.core.errors import Unavailable
from covey.surfaces.python.happenings import Happening, Moment, Tell

FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 5.0

T = TypeVar("T")


async def steadily(call: Callable[[], Awaitable[T]], tell: Tell) -> T:
    """Return what a call comes to; tell of each time that it has to be made again."""
    pause = FIRST_PAUSE_S
    while True:
        try:
            return await call()
        except Unavailable as error:
            if not error.retryable:
                raise
            tell(Happening(Moment.TROUBLE, None, error.message))
        await asyncio.sleep(pause)
        pause = min(LONGEST_PAUSE_S, 2 * pause)
