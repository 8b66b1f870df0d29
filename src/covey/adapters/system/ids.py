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


class SystemIds:
    """`Ids` that nobody can guess. Nothing is kept between calls, so a forked process never repeats its parent's."""

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


def _uuid4() -> str:
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
