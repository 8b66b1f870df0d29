"""A table with indexes behaves like a list that is filtered and sorted each time, even after an undo."""

from collections.abc import Iterable
from typing import NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from covey.adapters.memory.table import Order, Shelf, Table, UndoLog

SHELVES = ("x", "y", "z")


class Row(NamedTuple):
    key: str
    shelves: frozenset[str]
    order: int


def places(row: Row) -> Iterable[tuple[Shelf, Order]]:
    return ((shelf, row.order) for shelf in row.shelves)


rows = st.builds(Row, st.sampled_from("abcdef"), st.frozensets(st.sampled_from(SHELVES)), st.integers(0, 3))


class Tables(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.log = UndoLog()
        self.table = Table[str, Row](self.log, places)
        self.model: dict[str, Row] = {}
        self.before: dict[str, Row] | None = None

    @precondition(lambda self: self.before is None)
    @rule()
    def begin(self) -> None:
        self.log.begin()
        self.before = dict(self.model)

    @precondition(lambda self: self.before is not None)
    @rule(row=rows)
    def put(self, row: Row) -> None:
        self.table.put(row.key, row)
        self.model[row.key] = row

    @precondition(lambda self: self.before is not None)
    @rule()
    def keep(self) -> None:
        self.log.keep()
        self.before = None

    @precondition(lambda self: self.before is not None)
    @rule()
    def undo(self) -> None:
        self.log.undo()
        self.model, self.before = self.before or {}, None

    @invariant()
    def it_is_what_the_model_is(self) -> None:
        assert list(self.table.all()) == list(self.model.values())
        assert list(self.table.newest_first()) == list(self.model.values())[::-1]
        for shelf in SHELVES:
            # Sorting is stable, and a dict keeps the order in which keys were first put.
            expected = sorted((row for row in self.model.values() if shelf in row.shelves), key=lambda row: row.order)
            assert list(self.table.on(shelf)) == list(self.table.in_order(shelf)) == expected
            assert self.table.count(shelf) == len(expected)


TestTables = Tables.TestCase


def test_nothing_is_put_outside_a_commit() -> None:
    table = Table[str, Row](UndoLog(), places)
    with pytest.raises(RuntimeError):
        table.put("a", Row("a", frozenset(), 0))
    assert table.get("a") is None
