"""Signatures: they show one side of a webhook that a request comes from the owner of the secret, whole and lately.

A signature covers all that gives a request its meaning, so that none of it can be exchanged on the way. The direction
is in it too: both sides sign with one secret, and a post must not come back as something that a person said.
"""

import hmac
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple

VERSION: Final = "v1"
"""The form of what is signed. Another form gets another version, and both can be told apart."""

MAX_SKEW: Final = timedelta(minutes=5)
"""How far the clocks of both sides may be apart; a request that was signed earlier is refused."""


class Direction(StrEnum):
    POSTED = "posted"
    """From a space to people."""
    SAID = "said"
    """From people to a space."""


class Signed(NamedTuple):
    """What a signature covers. All texts are as they stand in the request."""

    direction: Direction
    method: str
    target: str
    """The path, with what comes after a question mark."""
    timestamp: str
    """X-Covey-Timestamp: seconds since 1970."""
    key: str
    """Idempotency-Key; empty where there is none."""
    content_type: str
    """Content-Type; empty where there is none."""
    body: bytes


def signature(secret: str, signed: Signed) -> str:
    """Return the value of X-Covey-Signature: the version, and the HMAC-SHA256 in hex of these lines."""
    lines = "\n".join((VERSION, *signed[:-1], sha256(signed.body).hexdigest()))
    return f"{VERSION}={hmac.new(secret.encode(), lines.encode(), sha256).hexdigest()}"


def is_signed(secret: str, signed: Signed, given: str, now: datetime) -> bool:
    """Tell whether a request was signed with the secret, lately."""
    timestamp = signed.timestamp
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    apart = abs(now.timestamp() - int(timestamp))
    return apart <= MAX_SKEW.total_seconds() and is_same(signature(secret, signed), given)


def is_same(expected: str, given: str) -> bool:
    """Tell whether a secret is the expected one, in a time that says nothing about where it differs."""
    return hmac.compare_digest(expected.encode(), given.encode(errors="replace"))
