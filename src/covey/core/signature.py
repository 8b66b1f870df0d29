"""Signatures: what shows one side of a webhook that a body comes from who has the secret, and is not old."""

import hmac
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

MAX_SKEW: Final = timedelta(minutes=5)
"""How far the clocks of both sides may be apart; what is signed earlier is taken for a repetition."""


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return what stands in X-Covey-Signature: the HMAC-SHA256 of the timestamp, a dot and the body, in hex. The
    timestamp counts seconds since 1970."""
    signed = timestamp.encode() + b"." + body
    return f"sha256={hmac.new(secret.encode(), signed, sha256).hexdigest()}"


def is_signed(secret: str, timestamp: str, body: bytes, given: str, now: datetime) -> bool:
    """Tell whether a body was signed with the secret, lately."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    apart = abs(now.timestamp() - int(timestamp))
    return apart <= MAX_SKEW.total_seconds() and is_same(signature(secret, timestamp, body), given)


def is_same(expected: str, given: str) -> bool:
    """Tell whether a secret is the expected one, in a time that says nothing about where it differs."""
    return hmac.compare_digest(expected.encode(), given.encode(errors="replace"))
