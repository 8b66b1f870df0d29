"""Causal trees in SQLite."""

from collections.abc import Sequence
from datetime import datetime

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.connection import Row
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.values import from_json, to_instant, to_instant_or_none, to_text, to_text_or_null
from covey.core.compact import to_json
from covey.core.echo import decode_talks, encode_talks
from covey.core.ids import MessageId
from covey.core.storm import Limit, Tree

_SQL = statements("trees")


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
        to_json(encode_talks(tree.talks)),
        len(tree.echoes),
    )


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
        decode_talks(from_json(talks)),
    )
