"""Turns among machines that write at once: who was too late more often goes first.

The log takes what comes first, and whoever won is ready to win again while the others still fetch what it wrote. So who
was too late several times in a row says so, and the others hold back for a moment. It is a hint and nothing more:
nobody waits for long, and where it is lost nothing else is.
"""

import asyncio
import os
from contextlib import suppress
from typing import Final

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from covey.adapters.nats.api import subscribed
from covey.core.nats_names import SpaceName, want_subject, want_subjects

LOST: Final = 2
"""Who lost so often in a row asks for its turn."""
HOLD_S: Final = 0.1
"""For so long at most a record is held back, and a wish is remembered."""


class Turns:
    """Of one process; on the link's loop."""

    def __init__(self, space: SpaceName) -> None:
        self._space = space
        self._id = os.urandom(8).hex()
        self._lost = 0
        self._is_listening = False
        self._wishes: dict[str, tuple[int, float]] = {}
        """How often others have lost, and until when that counts."""
        self._changed = asyncio.Event()

    def is_calm(self) -> bool:
        """Tell whether nobody has lost lately, as far as is known: then there is nothing to wait for, nor to tell."""
        return self._is_listening and not self._lost and not self._until(asyncio.get_running_loop().time())

    async def hold_back(self, client: Client) -> None:
        """Wait while somebody has lost more often than this process, but not for long."""
        if not self._is_listening:
            self._is_listening = True
            await subscribed(client, want_subjects(self._space), self._hear)
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + HOLD_S
        while (until := min(ends_at, self._until(loop.time()))) > loop.time():
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._changed.wait()

    async def tell(self, client: Client, principal: str, *, is_lost: bool) -> None:
        """Note what came of a record, and ask for a turn where it was too late too often."""
        had_asked = self._lost >= LOST
        self._lost = self._lost + 1 if is_lost else 0
        if had_asked or self._lost >= LOST:
            with suppress(nats.errors.Error, OSError):  # it is only a hint
                await client.publish(want_subject(self._space, principal), f"{self._id} {self._lost}".encode())

    def _until(self, now: float) -> float:
        """Return until when somebody comes first; the past where nobody does."""
        return max((until for lost, until in self._wishes.values() if lost > self._lost and until > now), default=0.0)

    async def _hear(self, message: Msg) -> None:
        who, _, lost = message.data.decode("ascii", "replace").partition(" ")
        if who == self._id or not lost.isdecimal() or len(lost) > 6 or len(who) != len(self._id):
            return
        now = asyncio.get_running_loop().time()
        self._wishes = {name: wish for name, wish in self._wishes.items() if wish[1] > now and name != who}
        if int(lost):
            self._wishes[who] = int(lost), now + HOLD_S
        self._changed.set()
