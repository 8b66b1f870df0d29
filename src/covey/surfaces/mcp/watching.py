"""Watching a resource: a client that asked for it is told when it has changed. Wake-ups say when to look."""

import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Final

import anyio

from covey.core.errors import CoveyError, Unavailable
from covey.core.ids import JOURNAL_TOPIC, Topic, inbox_topic, session_inbox
from covey.surfaces.mcp.resources import INBOX, state_of
from covey.toolkits.tool import Caller

AT_A_TIME_S: Final = 300.0
"""How long one wait is; then there is a sign of life, and it waits again."""

QUIET_S: Final = 0.2
"""After a notification there is none for so long: what happens in a burst is told once."""

AGAIN_S: Final = 5.0
"""When the space can't be read, it is tried again after so long."""

FindCaller = Callable[[], Awaitable[Caller]]
"""Gives who watches, with a sign of life."""
Tell = Callable[[str], Awaitable[None]]

_log = logging.getLogger(__name__)


class Watch:
    """A resource as it was last known."""

    def __init__(self, find: FindCaller, uri: str, state: object) -> None:
        self._find = find
        self._uri = uri
        self._state = state

    @classmethod
    async def begin(cls, find: FindCaller, uri: str) -> "Watch":
        """Return a watch that misses nothing from now on."""
        return cls(find, uri, await state_of(await find(), uri))

    async def go_on(self, tell: Tell) -> None:
        """Tell whenever the resource has changed, until it is cancelled."""
        while True:
            try:
                if await self._has_changed(await self._find()):
                    await tell(self._uri)
                    await anyio.sleep(QUIET_S)
            except Unavailable as error:
                _log.warning("%s can't be watched now: %s", self._uri, error.message)
                await anyio.sleep(AGAIN_S)
            except CoveyError as error:
                _log.warning("%s is watched no longer: %s", self._uri, error.message)
                return

    async def _has_changed(self, caller: Caller) -> bool:
        """Wait until the resource is no longer as it was known, or for a while; tell which."""

        async def look() -> bool | None:
            state = await state_of(caller, self._uri)
            has_changed, self._state = state != self._state, state
            return True if has_changed else None

        return await caller.services.waiting.until(self._topics(caller), look, AT_A_TIME_S) is not None

    def _topics(self, caller: Caller) -> Collection[Topic]:
        if self._uri == INBOX and caller.identity.session is not None:
            return [inbox_topic(session_inbox(caller.identity.session))]
        return [JOURNAL_TOPIC]
