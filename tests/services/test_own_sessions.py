"""The check that a sender's session is its own: made once per transaction, and again if the session changes."""

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
from covey.services import records as known


@asynccontextmanager
async def ann_in(tmp_path: Path) -> AsyncGenerator[covey.Member]:
    """Open a space with ann, and with bob as a recipient."""
    async with covey.open(f"sqlite:{tmp_path / 'covey.db'}") as space:
        await space.join("bob")
        yield await space.join("ann")


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[Identity]:
    """Return the identities whose session is looked up from now on."""
    found: list[Identity] = []
    look = known.own_session

    async def note(tx: Transaction, actor: Identity) -> Session:
        found.append(actor)
        return await look(tx, actor)

    monkeypatch.setattr(known, "own_session", note)
    return found


async def test_the_session_is_looked_up_once_for_a_batch(tmp_path: Path, looked: list[Identity]) -> None:
    async with ann_in(tmp_path) as ann:
        looked.clear()
        await asyncio.gather(*(ann.send("bob", "text") for _ in range(3)))
        assert looked == [ann.identity]
        await ann.send("bob", "text")
        assert looked == [ann.identity] * 2


async def test_a_session_that_has_left_can_no_longer_send(tmp_path: Path) -> None:
    async with ann_in(tmp_path) as ann:
        sends = [ann.send("bob", "text") for _ in range(2)]
        first, _, second = await asyncio.gather(sends[0], ann.leave(), sends[1], return_exceptions=True)
    assert isinstance(first, covey.Receipt)
    assert isinstance(second, SessionEnded)
