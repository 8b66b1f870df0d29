"""Marks of a genuine record: headers that prove that it was published for its position, and not copied there.

A client that may read a stream directly may name any subject for the reply. If that is a subject of a stream, the
server stores the reply. So an agent could have a message copied onto another agent's subject, past its permissions. But
the server checks two headers whenever it stores a message: the expected stream, and the expected last sequence number.
A copy from another stream can't have carried the first, and a copy of an older record fails the second.
"""

from collections.abc import Mapping
from typing import Final

_STREAM: Final = "Nats-Expected-Stream"
_LAST: Final = "Nats-Expected-Last-Sequence"


def marks(stream: str, last: int) -> dict[str, str]:
    """Return the headers of a record that has to follow the one at `last`."""
    return {_STREAM: stream, _LAST: str(last)}


def own(stream: str) -> dict[str, str]:
    """Return the header of a message that is meant for one stream, at any position."""
    return {_STREAM: stream}


def is_own(headers: Mapping[str, str], stream: str) -> bool:
    """Tell whether a message was published for the stream that has it, and so by a client that may write there."""
    return headers.get(_STREAM) == stream


def is_genuine(headers: Mapping[str, str], stream: str, seq: int) -> bool:
    """Tell whether the record at `seq` was published for exactly that position."""
    return headers.get(_STREAM) == stream and headers.get(_LAST) == str(seq - 1)
