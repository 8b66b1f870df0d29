"""Exports: a snapshot of a space, as lines that any space can import."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from covey.core.channels.channel import is_private
from covey.core.errors import BlobMissing
from covey.core.formats.export import ExportHeader, ExportSummary, LineWriter
from covey.core.formats.portable import Blob, FiledMessage, PrunedMessages, Record
from covey.core.ledger.message import FilePart
from covey.ports.blobs import Blobs
from covey.ports.clock import Clock
from covey.ports.views import PlacedRecord, View, Views
from covey.services.directory.settings import OF_THE_STORE
from covey.services.transfer.imports import is_progress
from covey.version import __version__

R = TypeVar("R")

PAGE: Final = 500
MESSAGES_PAGE: Final = 50
"""The number of messages per read: each may be a megabyte."""


class Exports:
    def __init__(self, views: Views, blobs: Blobs, clock: Clock) -> None:
        self._views = views
        self._blobs = blobs
        self._clock = clock

    @asynccontextmanager
    async def open(self, *, with_tokens: bool = False, with_private: bool = False) -> AsyncGenerator["Export"]:
        """Open a snapshot of the space: later changes are not in the export, and other programs are not blocked.
        Private settings are included only if the lines stay in this process."""
        async with self._views.view() as view:
            header = ExportHeader(await view.position(), self._clock.now(), __version__)
            yield Export(view, self._blobs, header, with_tokens, with_private)


class Export:
    """A snapshot of a space. Tokens are included only on request, as their stored hashes."""

    def __init__(self, view: View, blobs: Blobs, header: ExportHeader, with_tokens: bool, with_private: bool) -> None:
        self.view = view
        self.header = header
        self._blobs = blobs
        self._with_tokens = with_tokens
        self._with_private = with_private
        self._writer = LineWriter()
        self.missing: list[str] = []
        """The digests of files whose content is missing, here and in the export."""

    async def total(self) -> int:
        """Return the approximate number of records."""
        return sum((await self.view.totals()).values())

    async def lines(self) -> AsyncIterator[bytes]:
        """Iterate over the lines of the export."""
        self._writer = LineWriter()
        yield self._writer.header(self.header)
        async for record in self._records():
            yield self._writer.record(record)
        yield self._writer.end()

    @property
    def summary(self) -> ExportSummary:
        """The counts and the digest of the lines written so far."""
        totals = self._writer.totals
        return ExportSummary(self.header, totals.counts, totals.digest)

    async def _records(self) -> AsyncIterator[Record]:
        view = self.view
        for agent in await view.agents():
            yield agent
        for setting in await view.settings():
            if setting.name in OF_THE_STORE:
                continue
            if not is_progress(setting.name) and (self._with_private or not is_private(setting.name)):
                yield setting
        for token in await view.tokens() if self._with_tokens else ():
            yield token
        async for record in self._in_order():
            yield record

    async def _in_order(self) -> AsyncIterator[Record]:
        view = self.view
        after = 0
        while events := await view.events(after, PAGE):
            for event in events:
                yield event
            after = events[-1].position
        async for session in _all(view.sessions):
            yield session
        async for offer in _all(view.offers):
            yield offer
        after_id = ""
        while ids := await view.pruned(after_id, PAGE):
            yield PrunedMessages(tuple(ids))
            after_id = ids[-1]
        async for filed in self._messages():
            yield filed
        async for ticket in _all(view.tickets):
            yield ticket
        after = 0
        while deliveries := await view.deliveries(after, PAGE):
            for delivery in deliveries:
                yield delivery
            after = deliveries[-1].seq
        async for task in _all(view.tasks):
            yield task
        for binding in await view.bindings():
            yield binding
        async for post in _all(view.posts):
            yield post
        async for run in _all(view.runs):
            yield run

    async def _messages(self) -> AsyncIterator[Blob | FiledMessage]:
        """Iterate over the messages, each after the contents of its files, each content once."""
        self.missing = []
        seen: set[str] = set()
        async for filed in _all(self.view.messages, MESSAGES_PAGE):
            for part in filed.message.parts:
                if isinstance(part, FilePart) and part.digest not in seen:
                    seen.add(part.digest)
                    try:
                        yield Blob(part.digest, await self._blobs.get(part.digest))
                    except BlobMissing:
                        self.missing.append(part.digest)
            yield filed


async def _all(read: Callable[[int, int], Awaitable[Sequence[PlacedRecord[R]]]], limit: int = PAGE) -> AsyncIterator[R]:
    after = 0
    while page := await read(after, limit):
        for placed in page:
            yield placed.record
        after = page[-1].place
