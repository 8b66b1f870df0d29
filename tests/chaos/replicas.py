"""Comparison of replicas: the content of a space on each machine, without local tables."""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw

from covey.adapters.nats.client.settings import replica_path
from covey.engines import parse_store_url
from covey.engines.nats_ports import fetch_all

LOCAL = ("migrations", "replica")
"""The time at which this machine applied each migration, and its position in the log."""
_TABLES = "select name, sql from sqlite_schema where type = 'table' order by name"


def replica_of(url: str) -> Path:
    """Return the path of the replica for a URL on this machine."""
    return Path(replica_path(parse_store_url(url), os.environ))


def brought_up(url: str) -> Path:
    """Bring a replica up to date with its log. Return its path."""
    fetch_all(parse_store_url(url))
    return replica_of(url)


def content(path: Path) -> Mapping[str, str]:
    """Return a digest of the rows of each table, with their rowids."""
    connection = apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        cursor: Any = connection.cursor()  # apsw's types for values are not known to every type checker
        tables: list[tuple[str, str]] = cursor.execute(_TABLES).fetchall()
        return {name: _digest(cursor, name, sql) for name, sql in tables if name not in LOCAL}
    finally:
        connection.close()


def _digest(cursor: Any, table: str, sql: str) -> str:
    digest = sha256()
    columns = "*" if "without rowid" in sql.lower() else "rowid, *"
    for row in sorted(map(repr, cursor.execute(f'select {columns} from "{table}"'))):
        digest.update(row.encode())
    return digest.hexdigest()
