"""Tokens and settings in SQLite."""

from collections.abc import Sequence

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.connection import Row
from covey.adapters.sqlite.records import record_of
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.values import to_instant, to_instant_or_none, to_text, to_text_or_null
from covey.core.token import Token

_TOKENS = statements("tokens")
_SETTINGS = statements("settings")


class SqliteTokens:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, token_hash: str) -> Token | None:
        row = self._access.read(_TOKENS["get"], (token_hash,)).fetchone()
        return None if row is None else _decode(row)

    async def put(self, token: Token) -> None:
        instants = to_text(token.created_at), to_text_or_null(token.revoked_at), to_text_or_null(token.used_at)
        created_at, revoked_at, used_at = instants
        self._access.write(_TOKENS["put"], (token.hash, token.agent, created_at, revoked_at, token.note, used_at))

    async def all(self) -> Sequence[Token]:
        return [_decode(row) for row in self._access.read(_TOKENS["all"])]


class SqliteSettings:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, name: str) -> str | None:
        known = self._access.known.settings
        if name not in known:
            row = self._access.read(_SETTINGS["get"], (name,)).fetchone()
            known[name] = None if row is None else row[0]
        return known[name]

    async def put(self, name: str, value: str) -> None:
        self._access.write(_SETTINGS["put"], (name, value))
        self._access.change_directory()
        self._access.known.settings[name] = value


@record_of("tokens")
def _decode(row: Row) -> Token:
    token_hash, agent, created_at, revoked_at, note, used_at = row
    revoked, used = to_instant_or_none(revoked_at), to_instant_or_none(used_at)
    return Token(token_hash, agent, to_instant(created_at), revoked, note, used)
