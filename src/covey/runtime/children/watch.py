"""The watch over one child, from its first program to the end of its run."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar

from covey.core.errors import CoveyError, Rejected
from covey.core.ledger.message import Message
from covey.core.work.run import RunMode, RunState
from covey.ports.children import ChildMoment, Errand, Launching, Product
from covey.runtime.retrying import retried
from covey.services.children.supervision import Supervision, Wanted

MOST_SAID: Final = 200
"""Limit of the earlier messages of its conversation that a child is shown again."""
CLOSED: Final = "the process that started it has ended its work in the space"

T = TypeVar("T")
_log = logging.getLogger("covey")


class Launched(Protocol):
    """The running program or callable of an errand."""

    async def wait(self) -> Product:
        """Return the product. A cancellation leaves the errand running."""
        ...

    async def stop(self, why: str) -> Product:
        """End the errand, and return the product, within a bounded time."""
        ...


class Starting(Launching, Protocol):
    """`Launching` as a watch needs it, to start the next errand of a child."""

    async def start(self, errand: Errand) -> Launched: ...
    async def make_room(self, errand: Errand) -> None: ...


class Watch:
    """The watch over one child. The run always ends: with its program, on request, or with the work of this process."""

    def __init__(self, supervision: Supervision, launching: Starting, errand: Errand, launched: Launched) -> None:
        self._supervision = supervision
        self._launching = launching
        self._errand = errand
        self._launched: Launched | None = launched
        self._run = errand.child.run

    async def keep(self) -> None:
        """Watch until the run has ended. A cancellation stops the child."""
        try:
            product = await self._accompany()
        except asyncio.CancelledError:
            await _surely(self._break_off())
            raise
        await _surely(self._finish(product))

    async def _break_off(self) -> None:
        """Stop the child, because this process leaves the space."""
        product = Product(RunState.STOPPED, reason=CLOSED)
        if self._launched is not None:
            product = await self._launched.stop(CLOSED)
            if self._errand.number > 1:
                await self._hand_in(product)
        await self._finish(product)

    async def _accompany(self) -> Product:
        """Return the final product of the child: after its one errand, or, for a session, after a request to stop."""
        said: list[Message] = []
        product = await self._do()
        while self._run.mode is RunMode.SESSION:
            answer = await self._hand_in(product)
            said = [*said, self._errand.message, *([answer] if answer is not None else [])][-MOST_SAID:]
            await self._launching.make_room(self._errand)
            following = await self._following(said)
            if isinstance(following, Wanted):
                return Product(RunState.STOPPED, reason=following.why)
            self._errand = following
            try:
                self._launched = await self._launching.start(following)
            except CoveyError as error:
                product = Product(RunState.FAILED, reason=error.message)
            else:
                product = await self._do()
        return product

    async def _do(self) -> Product:
        """Return the product of the errand, which is stopped on a request to end the run."""
        launched = self._launched
        if launched is None:
            raise RuntimeError("nothing was started")
        waiting = asyncio.ensure_future(launched.wait())
        wanted = asyncio.ensure_future(_steadily(lambda: self._supervision.until_wanted_over(self._run.id)))
        try:
            await asyncio.wait({waiting, wanted}, return_when=asyncio.FIRST_COMPLETED)
            product = waiting.result() if waiting.done() else await launched.stop(wanted.result().why)
        finally:
            for future in (waiting, wanted):
                future.cancel()
            await asyncio.wait({waiting, wanted})
        self._launched = None
        return product

    async def _following(self, said: list[Message]) -> Errand | Wanted:
        child, number = self._errand.child, self._errand.number + 1
        return await _steadily(lambda: self._supervision.next_errand(child, number, said))

    async def _hand_in(self, product: Product) -> Message | None:
        errand = self._errand
        try:
            return await _steadily(lambda: self._supervision.hand_in(errand, product))
        except Rejected as error:
            unfit = _unfit(product, error)
        return await _steadily(lambda: self._supervision.hand_in(errand, unfit))

    async def _finish(self, product: Product) -> None:
        """Record the end of the run, clean up its folder, and notify the plugins."""
        try:
            ended = await _steadily(lambda: self._supervision.end(self._run.id, product))
        except Rejected as error:
            unfit = _unfit(product, error)
            ended = await _steadily(lambda: self._supervision.end(self._run.id, unfit))
        with suppress(CoveyError):  # the next upkeep of the space does it
            await self._supervision.clear(ended, self._launching)
        if ended.state is not RunState.LOST:
            is_well = ended.state in (RunState.COMPLETED, RunState.STOPPED)
            await self._launching.plugins.tell(ChildMoment.ENDED if is_well else ChildMoment.FAILED, ended)


def _unfit(product: Product, error: Rejected) -> Product:
    """Return a replacement for a product that is refused, for example because it is too large."""
    text = f"What it made can't be handed in: {error.message}."
    return Product(product.state, f"{product.reason}\n\n{text}".strip(), reason=product.reason)


async def _surely(work: Coroutine[Any, Any, None]) -> None:
    """Complete the work even if the caller is cancelled: without its end, the run would count as lost."""
    doing = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not doing.done():
        try:
            await asyncio.wait({doing})
        except asyncio.CancelledError as error:
            cancelled = error
    doing.result()
    if cancelled is not None:
        raise cancelled


async def _steadily(call: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `call`, with retries while the store is unavailable; each failure is logged."""
    return await retried(call, lambda message: _log.warning("watching over children: %s", message))
