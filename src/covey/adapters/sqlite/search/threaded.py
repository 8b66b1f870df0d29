"""Search for programs with an event loop, on its own thread."""

import os
from collections.abc import Sequence

from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S
from covey.adapters.sqlite.search.search import SqliteSearch
from covey.adapters.sqlite.transactions.read_queue import ReadQueue, Take
from covey.core.coroutine import finish
from covey.ports.ledger import MessageFilter, SearchHit


class ThreadedSearch:
    """A search that runs one query after the other, beside the event loop."""

    def __init__(self, path: str | os.PathLike[str], *, limit_s: float = BUSY_LIMIT_S) -> None:
        """Open the search over the store at `path`."""
        self._search = SqliteSearch(path)
        self._lane = ReadQueue(os.fspath(path), self._serve, self._let_go, limit_s)

    async def find(self, words: str, limit: int, wanted: MessageFilter | None = None) -> Sequence[SearchHit]:
        return await self._lane.run(lambda search: search.find(words, limit, wanted))

    async def forget(self) -> None:
        await self._lane.run(lambda search: search.forget())

    async def lag(self) -> int:
        return await self._lane.run(lambda search: search.lag())

    async def close(self) -> None:
        await self._lane.close()

    def _serve(self, take: Take) -> None:
        for job in take():
            try:
                job.value = finish(job.operation(self._search))
            except BaseException as error:  # noqa: BLE001 - the caller that awaits the job gets it
                job.error = error

    def _let_go(self) -> None:
        finish(self._search.close())
