"""The simplest shared store: a pickled MemoryStore behind a lock, as a foreign adapter."""

import fcntl
import pickle
from collections.abc import Collection, Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import TypeVar

from covey.adapters.memory import MemoryStore
from covey.core.errors import StoreClosed
from covey.core.names import Topic
from covey.ports.store import Capabilities, Operation, Store, Survives
from covey.testing import Ring, closing, silent

T = TypeVar("T")


class Pickled(MemoryStore):
    def ring_with(self, ring: Ring) -> None:
        self._ring = ring


class PickleStore:
    def __init__(self, folder: Path, ring: Ring) -> None:
        self._folder = folder
        self._ring = ring
        self._is_closed = False

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(Survives.PROCESS, shared=True, searchable=False)

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        with self._locked():
            store, rung = self._load(), list[Collection[Topic]]()
            store.ring_with(rung.append)
            result = await store.commit(operation, is_long=is_long, is_light=is_light)
            store.ring_with(silent)
            self._save(store)
        for topics in rung:
            self._ring(topics)
        return result

    async def read(self, operation: Operation[T], *, is_long: bool = False) -> T:
        with self._locked():
            return await self._load().read(operation, is_long=is_long)

    async def close(self) -> None:
        self._is_closed = True

    @contextmanager
    def _locked(self) -> Generator[None]:
        if self._is_closed:
            raise StoreClosed
        with (self._folder / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _load(self) -> Pickled:
        try:
            return pickle.loads((self._folder / "space").read_bytes())
        except FileNotFoundError:
            return Pickled(silent)

    def _save(self, store: Pickled) -> None:
        (self._folder / "new").write_bytes(pickle.dumps(store))
        (self._folder / "new").replace(self._folder / "space")


def open_pickle(folder: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    return closing(PickleStore(Path(folder), ring))


def open_forgetful(folder: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    """Open a store that claims to be shared, but is separate for each process."""
    return closing(Forgetful(ring))


class Forgetful(MemoryStore):
    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(Survives.PROCESS, shared=True, searchable=False)
