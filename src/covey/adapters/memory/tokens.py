"""Tokens in memory."""

from collections.abc import Sequence

from covey.adapters.memory.table import Table
from covey.adapters.memory.undo import UndoLog
from covey.core.token import Token


class MemoryTokens:
    def __init__(self, log: UndoLog) -> None:
        self._tokens = Table[str, Token](log)

    async def get(self, token_hash: str) -> Token | None:
        return self._tokens.get(token_hash)

    async def put(self, token: Token) -> None:
        self._tokens.put(token.hash, token)

    async def all(self) -> Sequence[Token]:
        return sorted(self._tokens.all(), key=lambda token: token.created_at)
