"""Ids and secrets from the kernel's random numbers.

The uuids are put together here because the uuid module costs a short-lived process more than all else in this file.
"""

import os
from datetime import UTC, datetime, timedelta
from typing import Final

from covey.core.ids import MessageId, OfferId, SessionId

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_SECRET_BYTES: Final = 32
_UUID_BYTES: Final = 16
_DRAW: Final = 64


class SystemIds:
    """`Ids` that nobody can guess."""

    def message_id(self, now: datetime) -> MessageId:
        milliseconds = max(0, (now - _EPOCH) // _MILLISECOND)
        return MessageId(f"{milliseconds:013d}-{_uuid4()}")

    def session_id(self) -> SessionId:
        return SessionId(_uuid4())

    def offer_id(self) -> OfferId:
        return OfferId(_uuid4())

    def secret(self) -> str:
        """Return 256 bits in hex: fit for URLs, and never taken for an option of a command."""
        return os.urandom(_SECRET_BYTES).hex()


_drawn: Final[list[bytes]] = []
"""Random bytes for the next ids, because asking the kernel for each would be a good part of what a send costs. A forked
process draws its own, or it would repeat its parent's."""

os.register_at_fork(after_in_child=_drawn.clear)


def _random() -> bytes:
    """Return 16 random bytes. Safe for several threads: each pop is whole."""
    try:
        return _drawn.pop()
    except IndexError:
        drawn = os.urandom(_UUID_BYTES * _DRAW)
        _drawn.extend(drawn[n : n + _UUID_BYTES] for n in range(_UUID_BYTES, len(drawn), _UUID_BYTES))
        return drawn[:_UUID_BYTES]


def _uuid4() -> str:
    digits = _random().hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
