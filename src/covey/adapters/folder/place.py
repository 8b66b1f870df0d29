"""The restore target of a files store: the notebook of the folder is removed when the records are replaced."""

import os
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

from covey.adapters.folder.notebook.database import NOTEBOOK, throw_away
from covey.core.store_url import STORE_FOLDER
from covey.ports.backup import Claim, RestoreTarget, Snapshot
from covey.ports.checkup import Tell
from covey.ports.store import Operation, Store

T = TypeVar("T")


class SharedPlace:
    """`RestoreTarget` around that of the ledger. After a restore all files in the folder are examined again. Files of
    messages in the backup are recognised. Files of later messages are accepted as those of foreign programs are."""

    def __init__(self, place: RestoreTarget, root: str) -> None:
        self._place = place
        self._notebook = os.path.join(root, STORE_FOLDER, NOTEBOOK)

    def claim(self, *, replace: bool) -> AbstractAsyncContextManager[Claim]:
        return self._claim(replace)

    @asynccontextmanager
    async def _claim(self, replace: bool) -> AsyncGenerator[Claim]:
        async with self._place.claim(replace=replace) as claim:
            yield _Claim(claim, self._notebook)


class _Claim:
    def __init__(self, claim: Claim, notebook: str) -> None:
        self._claim = claim
        self._notebook = notebook

    @property
    def name(self) -> str:
        return self._claim.name

    @property
    def is_empty(self) -> bool:
        return self._claim.is_empty

    @property
    def staging_file(self) -> str:
        return self._claim.staging_file

    async def read(self, operation: Operation[T]) -> T:
        return await self._claim.read(operation)

    async def staged(self) -> tuple[Store, Snapshot]:
        return await self._claim.staged()

    async def install(self, tell: Tell) -> None:
        # First: a process that is killed in between then only causes a needless look at all files.
        throw_away(self._notebook)
        await self._claim.install(tell)
