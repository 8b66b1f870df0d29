"""Search in memory, by a full scan: there is no index that could lag."""

import re
import sys
from collections import Counter
from collections.abc import Sequence

from covey.core.ledger.message import Message
from covey.ports.ledger import MessageFilter, SearchHit
from covey.ports.store import Store, Transaction

_WORD = re.compile(r"[^\W_]+")
_AROUND = 40


class MemorySearch:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, words: str, limit: int, wanted: MessageFilter | None = None) -> Sequence[SearchHit]:
        distinct = frozenset(_words(words))
        if not distinct:
            return ()

        async def fitting(transaction: Transaction) -> Sequence[Message]:
            return await transaction.messages.find(wanted or MessageFilter(), sys.maxsize)

        scores = ((_score(message, distinct), message) for message in await self._store.read(fitting))
        best = sorted(((score, m) for score, m in scores if score), key=lambda scored: scored[0], reverse=True)
        return tuple(SearchHit(m.id, _snippet(_searched(m), distinct)) for _, m in best[:limit])

    async def forget(self) -> None: ...

    async def lag(self) -> int:
        return 0

    async def close(self) -> None: ...


def _searched(message: Message) -> str:
    return f"{message.subject or ''} {message.text}".strip()


def _words(text: str) -> Sequence[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _score(message: Message, wanted: frozenset[str]) -> float:
    """Return the share of the wanted words in the message; 0 if a word is missing."""
    found = Counter(_words(_searched(message)))
    if any(word not in found for word in wanted):
        return 0
    return sum(found[word] for word in wanted) / found.total()


def _snippet(text: str, wanted: frozenset[str]) -> str:
    matches = [match for match in _WORD.finditer(text) if match.group().casefold() in wanted]
    start = max(0, matches[0].start() - _AROUND)
    end = min(len(text), matches[0].end() + _AROUND)
    shown = text[start:end]
    marked = _WORD.sub(lambda word: f"«{word[0]}»" if word[0].casefold() in wanted else word[0], shown)
    return ("…" if start else "") + marked + ("…" if end < len(text) else "")
