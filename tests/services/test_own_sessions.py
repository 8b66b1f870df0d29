"""Whether a sender's session is its own: asked once for all that is committed together, and again when it matters."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import covey
from covey.core.directory.session import Session
from covey.core.errors import SessionEnded
from covey.core.identity import Identity
from covey.ports.store import Transaction
from covey.services import known


@asynccontextmanager
async def ann_in(tmp_path: Path) -> AsyncGenerator[covey.Member]:
    """A space with ann, who has somebody to write to."""
    async with covey.open(f"sqlite:{tmp_path / 'covey.db'}") as space:
        await space.join("bob")
        yield await space.join("ann")


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[Identity]:
    """Return whose session is looked up from now on."""
    found: list[Identity] = []
    look = known.own_session

    async def note(tx: Transaction, actor: Identity) -> Session:
        found.append(actor)
        return await look(tx, actor)

    monkeypatch.setattr(known, "own_session", note)
    return found


async def test_it_is_looked_up_once_for_a_batch(tmp_path: Path, looked: list[Identity]) -> None:
    async with ann_in(tmp_path) as ann:
        looked.clear()
        await asyncio.gather(*(ann.send("bob", "text") for _ in range(3)))
        assert looked == [ann.identity]
        await ann.send("bob", "text")
        assert looked == [ann.identity] * 2


async def test_who_has_left_sends_no_more(tmp_path: Path) -> None:
    async with ann_in(tmp_path) as ann:
        sends = [ann.send("bob", "text") for _ in range(2)]
        first, _, second = await asyncio.gather(sends[0], ann.leave(), sends[1], return_exceptions=True)
    assert isinstance(first, covey.Receipt)
    assert isinstance(second, SessionEnded)
