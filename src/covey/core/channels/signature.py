"""Signatures of webhook requests: proof that a request comes from an owner of the secret, unchanged and recent.

A signature covers everything that gives a request its meaning, so that no part can be exchanged on the way. It also
covers the direction: both sides sign with one secret, and a post must not be replayed as a person's message.
"""

import hmac
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple

VERSION: Final = "v1"
"""The version of the signed format. Another format gets another version."""

MAX_SKEW: Final = timedelta(minutes=5)
"""The largest difference between the timestamp and the clock. An older request is refused."""


class Direction(StrEnum):
    POSTED = "posted"
    """From a space to people."""
    SAID = "said"
    """From people to a space."""


class Signed(NamedTuple):
    """The signed fields of a request, as the request has them."""

    direction: Direction
    method: str
    target: str
    """The path with the query."""
    timestamp: str
    """X-Covey-Timestamp: seconds since 1970."""
    key: str
    """Idempotency-Key; empty if there is none."""
    content_type: str
    """Content-Type; empty if there is none."""
    body: bytes


def signature(secret: str, signed: Signed) -> str:
    """Return the value of X-Covey-Signature: the version, and the HMAC-SHA256 in hex over the signed fields, one a
    line."""
    lines = "\n".join((VERSION, *signed[:-1], sha256(signed.body).hexdigest()))
    return f"{VERSION}={hmac.new(secret.encode(), lines.encode(), sha256).hexdigest()}"


def is_signed(secret: str, signed: Signed, given: str, now: datetime) -> bool:
    """Tell whether a request was signed with the secret, and its timestamp is recent."""
    timestamp = signed.timestamp
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    apart = abs(now.timestamp() - int(timestamp))
    return apart <= MAX_SKEW.total_seconds() and is_same(signature(secret, signed), given)


def is_same(expected: str, given: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(expected.encode(), given.encode(errors="replace"))
