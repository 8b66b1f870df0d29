"""Integrity: whether the file is whole, and what is counted is there."""

import os
from collections.abc import Sequence

from covey.adapters.sqlite.access import on_one_cursor
from covey.adapters.sqlite.connection import absolute, connect
from covey.adapters.sqlite.statements import statements

_SQL = statements("store")


def integrity_check(path: str | os.PathLike[str]) -> Sequence[str]:
    """Return a sentence for each thing that is wrong with the store; none where it is whole. Reads all of it."""
    connection = connect(absolute(path), "normal")
    try:
        execute = on_one_cursor(connection)
        damage = [str(line) for (line,) in execute(_SQL["check"])]
        miscounted = [f"the queued deliveries of {inbox} are miscounted" for (inbox,) in execute(_SQL["miscounted"])]
        return [line for line in damage if line != "ok"] + miscounted
    finally:
        connection.close()
