"""Marks of a genuine record: what shows that it was published where it is, and not copied there by the server.

Whoever may read a stream directly may name any subject for the answer, and the server stores what arrives there. So an
agent could have a message copied onto another agent's subject, past its permissions. But the server checks two headers
whenever it stores: which stream is meant, and which record is the last. A copy from another stream can't have carried
the first, and a copy of an older record fails the second.
"""

from collections.abc import Mapping
from typing import Final

_STREAM: Final = "Nats-Expected-Stream"
_LAST: Final = "Nats-Expected-Last-Sequence"


def marks(stream: str, last: int) -> dict[str, str]:
    """Return the headers of a record that is to stand behind the one at `last`."""
    return {_STREAM: stream, _LAST: str(last)}


def own(stream: str) -> dict[str, str]:
    """Return the header of a message that is meant for just one stream, wherever it will stand in it."""
    return {_STREAM: stream}


def is_own(headers: Mapping[str, str], stream: str) -> bool:
    """Tell whether a message was published for the stream that has it, and so by somebody who may write there."""
    return headers.get(_STREAM) == stream


def is_genuine(headers: Mapping[str, str], stream: str, seq: int) -> bool:
    """Tell whether the record at `seq` was published for just that place."""
    return headers.get(_STREAM) == stream and headers.get(_LAST) == str(seq - 1)
