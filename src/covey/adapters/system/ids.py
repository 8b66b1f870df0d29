"""Ids and secrets from the kernel's random numbers.

The uuids are built here, because the import of the uuid module costs a short-lived process more than this whole file.
"""

import os
from datetime import UTC, datetime
from typing import Final

from covey.core.names import MessageId, OfferId, SessionId

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_MS: Final = 24 * 3600 * 1000
_SECRET_BYTES: Final = 32
_UUID_BYTES: Final = 16
_DRAW: Final = 64


class SystemIds:
    """`Ids` that cannot be guessed."""

    def message_id(self, now: datetime) -> MessageId:
        since = now - _EPOCH
        milliseconds = max(0, since.days * _DAY_MS + since.seconds * 1000 + since.microseconds // 1000)
        return MessageId(f"{milliseconds:013d}-{_uuid4()}")

    def session_id(self) -> SessionId:
        return SessionId(_uuid4())

    def offer_id(self) -> OfferId:
        return OfferId(_uuid4())

    def secret(self) -> str:
        """Return 256 bits in hex. The text is safe in URLs, and a command never takes it for an option."""
        return os.urandom(_SECRET_BYTES).hex()


_VERSION_4: Final = bytes(byte & 0x0F | 0x40 for byte in range(256))
_VARIANT: Final = bytes(byte & 0x3F | 0x80 for byte in range(256))
"""Tables for the two bytes of a uuid that hold its version and its variant."""

_drawn: Final[list[str]] = []
"""Hex digits of the next uuids. A system call for each uuid would be a good part of the cost of a send. A forked
process clears the list, or it would repeat the uuids of its parent."""

os.register_at_fork(after_in_child=_drawn.clear)


def _uuid4() -> str:
    """Return a random uuid. Safe for several threads, because `pop` is atomic."""
    try:
        digits = _drawn.pop()
    except IndexError:
        digits, *others = _draw()
        _drawn.extend(others)
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _draw() -> list[str]:
    """Return the hex digits of many random uuids."""
    drawn = bytearray(os.urandom(_UUID_BYTES * _DRAW))
    drawn[6::_UUID_BYTES] = drawn[6::_UUID_BYTES].translate(_VERSION_4)
    drawn[8::_UUID_BYTES] = drawn[8::_UUID_BYTES].translate(_VARIANT)
    digits = drawn.hex()
    return [digits[n : n + 2 * _UUID_BYTES] for n in range(0, len(digits), 2 * _UUID_BYTES)]
