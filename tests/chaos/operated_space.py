"""A space with a history: closed dialogues, open ones, and files; and the checks that must always hold."""

from pathlib import Path
from typing import NamedTuple

from covey.adapters.sqlite.care.integrity import integrity_check
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.adapters.system.blobs import BlobFiles
from covey.core.identity import Identity
from covey.core.ledger.message import FilePart, Kind
from covey.core.names import AgentName, MessageId
from covey.ports.store import Transaction
from covey.services.care.audit import Audit
from tests.properties.world import finish
from tests.services.spaces import Space, in_sqlite

ANN, BOB = AgentName("ann"), AgentName("bob")


class Past(NamedTuple):
    closed: list[MessageId]
    open: list[MessageId]


class Held(NamedTuple):
    """The part of its history that a space holds."""

    closed: int
    open: int
    pruned: int
    position: int
    sessions: int
    """Sessions that have not ended."""


def fill(path: Path, dialogues: int) -> Past:
    """Let ann ask bob. Every tenth question stays open."""
    space = in_sqlite(path, BlobFiles(str(path.parent)))
    ann, bob = space.join(ANN), space.join(BOB)
    past = Past([], [])
    for n in range(dialogues):
        content = f"file {n % 5}".encode()
        part = FilePart("file.txt", finish(space.blobs.put(content)), len(content))
        scope = f"open-{n % 3}" if n % 10 == 0 else f"closed-{n // 25}"
        asked = space.send(ann, BOB, f"question {n} " + "x" * (n % 500), part, kind=Kind.REQUEST, scope=scope)
        if n % 10 == 0:
            past.open.append(asked)
        else:
            past.closed.extend((asked, _close(space, ann, bob, asked, scope)))
    finish(space.services.directory.leave(ann))
    finish(space.services.directory.leave(bob))
    finish(space.store.close())
    return past


def _close(space: Space, ann: Identity, bob: Identity, asked: MessageId, scope: str) -> MessageId:
    answer = space.send(bob, ANN, "yes", kind=Kind.RESPONSE, answers=asked, scope=scope)
    finish(space.services.dialogue.archive(asked, bob))
    finish(space.services.mail.settle(answer, ann))
    return answer


def check(path: Path, past: Past) -> Held:
    """Fail if the space is inconsistent. Return its counts."""
    assert not integrity_check(path)
    store = SqliteStore(path, synchronous="normal")
    try:
        assert not finish(Audit(store).check())
        held = finish(store.read(lambda tx: _held(tx, past)))
    finally:
        finish(store.close())
    assert held.closed + held.pruned in (0, len(past.closed)), "a message is neither here nor remembered"
    return held


async def _held(tx: Transaction, past: Past) -> Held:
    closed = [await tx.messages.get(message_id) for message_id in past.closed]
    still_open = [await tx.messages.get(message_id) for message_id in past.open]
    return Held(
        closed=sum(message is not None for message in closed),
        open=sum(message is not None for message in still_open),
        pruned=await tx.pruned.count(),
        position=await tx.journal.last(),
        sessions=len(await tx.sessions.current()),
    )
