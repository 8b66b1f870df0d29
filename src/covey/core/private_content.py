"""Content that is handed to nobody: credentials, and the ledger of a space.

Whoever reads a credential can act as somebody else; whoever reads a ledger has the mail of all agents.
"""

import re
from typing import Final

from covey.core.store_url import APPLICATION_ID

_SECRET: Final = rb"[0-9a-f]{64}"
"""A secret of a space as text: 256 bits in hex."""

_CREDENTIALS: Final = (
    ("a token of a space", re.compile(rb"covey_" + _SECRET)),
    ("the secret of a session", re.compile(rb"-[0-9a-f]{12}:" + _SECRET)),
    ("a seed of NATS", re.compile(rb"SU[A-Z2-7]{56}(?![A-Z2-7])")),
)

_SQLITE: Final = b"SQLite format 3\0"
_MARK_AT: Final = 68
_MARK: Final = APPLICATION_ID.to_bytes(4, "big")


def why_private(content: bytes) -> str | None:
    """Return why a content is handed to nobody, in words; None where it may be.

    Recognised are the forms that Covey itself makes. The secret of a channel has no form of its own.
    """
    if content.startswith(_SQLITE) and content[_MARK_AT : _MARK_AT + len(_MARK)] == _MARK:
        return "it is the ledger of a space"
    found = next((words for words, form in _CREDENTIALS if form.search(content)), None)
    return None if found is None else f"there is {found} in it"
