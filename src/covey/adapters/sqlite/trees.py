"""Causal trees in SQLite."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.connection import Row
from covey.adapters.sqlite.records import record_of
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.values import from_json, to_instant, to_instant_or_none, to_text, to_text_or_null
from covey.core.compact import to_json
from covey.core.echo import Talk, decode_talks, encode_talks
from covey.core.ids import MessageId
from covey.core.storm import Limit, Tree

_SQL = statements("trees")

MAX_RECENT: Final = 256

_recent: dict[str, tuple[Talk, ...]] = {}
"""Talks by the text that stands for them: the next message of a tree needs what the last one left."""


class SqliteTrees:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, root: MessageId) -> Tree | None:
        row = self._access.read(_SQL["get"], (root,)).fetchone()
        return None if row is None else _decode(row)

    async def put(self, tree: Tree) -> None:
        self._access.write(_SQL["put"], _encode(tree))

    async def stopped(self) -> Sequence[Tree]:
        return [_decode(row) for row in self._access.read(_SQL["stopped"])]

    async def since(self, at: datetime, limit: int) -> Sequence[Tree]:
        return [_decode(row) for row in self._access.read(_SQL["since"], (to_text(at), limit))]

    async def forget(self, before: datetime, limit: int) -> int:
        return sum(1 for _ in self._access.write(_SQL["forget"], (to_text(before), limit)))


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
def _decode(row: Row) -> Tree:
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
