"""Private content, which is never handed out: credentials, and the ledger of a space.

With a credential, a reader can act as another agent. With a ledger, a reader has the mail of all agents.
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
    """Return the reason why content is private, in words; None if it is not.

    Only formats of Covey itself are recognised. The secret of a channel has no format that could be recognised.
    """
    if content.startswith(_SQLITE) and content[_MARK_AT : _MARK_AT + len(_MARK)] == _MARK:
        return "it is the ledger of a space"
    found = next((words for words, form in _CREDENTIALS if form.search(content)), None)
    return None if found is None else f"there is {found} in it"
