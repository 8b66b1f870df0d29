"""Causal trees and flows in SQLite."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from covey.adapters.sqlite.engine.access import Access, statements
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.records.rows import (
    from_json,
    record_of,
    to_instant,
    to_instant_or_none,
    to_text,
    to_text_or_null,
)
from covey.core.json import to_json
from covey.core.names import MessageId
from covey.core.storms.budget import Limit, Tree
from covey.core.storms.echo import Talk, decode_talks, encode_talks
from covey.core.storms.flow import Flow, Party

_TREES = statements("trees")

MAX_RECENT: Final = 256

_recent: dict[str, tuple[Talk, ...]] = {}
"""Talks by their stored text: the next message of a tree needs the talks that the last message wrote."""


class SqliteTrees:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, root: MessageId) -> Tree | None:
        row = self._access.read(_TREES["get"], (root,)).fetchone()
        return None if row is None else _tree(row)

    async def put(self, tree: Tree) -> None:
        self._access.write(_TREES["put"], _encode(tree))

    async def stopped(self) -> Sequence[Tree]:
        return [_tree(row) for row in self._access.read(_TREES["stopped"])]

    async def since(self, at: datetime, limit: int) -> Sequence[Tree]:
        return [_tree(row) for row in self._access.read(_TREES["since"], (to_text(at), limit))]

    async def forget(self, before: datetime, limit: int) -> int:
        return sum(1 for _ in self._access.write(_TREES["forget"], (to_text(before), limit)))


def _encode(tree: Tree) -> Row:
    return (
        tree.root,
        to_text(tree.began_at),
        to_text(tree.updated_at),
        tree.messages,
        tree.depth,
        tree.children,
        tree.base,
        tree.refused,
        tree.stopped,
        to_text_or_null(tree.stopped_at),
        _talks_text(tree.talks),
        len(tree.echoes),
    )


@record_of("trees")
def _tree(row: Row) -> Tree:
    root, began_at, updated_at, messages, depth, children, base, refused, stopped, stopped_at, talks = row
    return Tree(
        root,
        to_instant(began_at),
        to_instant(updated_at),
        messages,
        depth,
        children,
        base,
        refused,
        None if stopped is None else Limit(stopped),
        to_instant_or_none(stopped_at),
        _talks(talks),
    )


def _talks_text(talks: tuple[Talk, ...]) -> str:
    text = to_json(encode_talks(talks))
    _remember(text, talks)
    return text


def _talks(text: str) -> tuple[Talk, ...]:
    known = _recent.get(text)
    if known is None:
        known = decode_talks(from_json(text))
        _remember(text, known)
    return known


def _remember(text: str, talks: tuple[Talk, ...]) -> None:
    if len(_recent) >= MAX_RECENT:
        _recent.clear()
    _recent[text] = talks


_FLOWS = statements("flows")


class SqliteFlows:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, source: Party, target: Party) -> Flow | None:
        row = self._access.read(_FLOWS["get"], (source, target)).fetchone()
        return None if row is None else _flow(row)

    async def put(self, flow: Flow) -> None:
        source, target, at, samples, initiative, exchanged, themes = flow
        row = (source, target, to_text(at), " ".join(map(str, samples)), initiative, exchanged, " ".join(themes))
        self._access.write(_FLOWS["put"], row)

    async def strongest(self, source: Party, limit: int) -> Sequence[Flow]:
        return [_flow(row) for row in self._access.read(_FLOWS["strongest"], (source, limit))]

    async def remove(self, source: Party) -> None:
        self._access.write(_FLOWS["remove"], (source,))

    async def forget(self, before: datetime, limit: int) -> int:
        return sum(1 for _ in self._access.write(_FLOWS["forget"], (to_text(before), limit)))


def _flow(row: Row) -> Flow:
    source, target, at, samples, initiative, exchanged, themes = row
    places = tuple(map(int, samples.split()))
    return Flow(source, target, to_instant(at), places, initiative, exchanged, tuple(themes.split()))
