"""Tokens: credentials bound to one agent or to the operator. Only their hash is stored."""

import re
from datetime import datetime
from typing import Final, NamedTuple, NewType

from covey.core.errors import IdentityRefused, Invalid
from covey.core.names import OPERATOR, AgentName

TokenId = NewType("TokenId", str)
"""What people and the journal call a token: the first digits of its hash. It gives nothing away."""

PREFIX: Final = "covey_"
"""How every token begins, so that one that got loose is recognised, by people and by scanners for secrets."""

MAX_NOTE_CHARS: Final = 200
_ID_DIGITS: Final = 12
_TOKEN = re.compile(PREFIX + r"[A-Za-z0-9_-]{16,256}")


class Token(NamedTuple):
    hash: str
    agent: AgentName
    """Whom it stands for; the name `operator` makes the operator."""
    created_at: datetime
    revoked_at: datetime | None = None
    note: str = ""
    used_at: datetime | None = None
    """When it was last shown, to the hour; None where it never was."""

    @property
    def id(self) -> TokenId:
        return token_id(self.hash)

    @property
    def is_operators(self) -> bool:
        return self.agent == OPERATOR


def token_from(secret: str) -> str:
    """Return the token that its holder shows, from a secret that nobody can guess."""
    return PREFIX + secret


def token_id(token_hash: str) -> TokenId:
    """Return the public id of the token with that hash."""
    return TokenId(token_hash[:_ID_DIGITS])


def check_token(text: object) -> str:
    """Return what has the form of a token. What has not is IdentityRefused, and is never repeated: it may be another
    secret."""
    if not isinstance(text, str) or not _TOKEN.fullmatch(text):
        raise IdentityRefused(f"that is no token: one begins with {PREFIX} and has no spaces")
    return text


def parse_token_id(text: object) -> TokenId:
    """Return `text` as the id of a token. A token in its place is not repeated in what is said about it."""
    if not isinstance(text, str) or not re.fullmatch(f"[0-9a-f]{{{_ID_DIGITS}}}", text):
        shown = PREFIX + "…" if isinstance(text, str) and PREFIX in text else text
        raise Invalid("token id", shown, f"use the {_ID_DIGITS} digits that a list of tokens shows, not the token")
    return TokenId(text)


def parse_note(text: object) -> str:
    """Return `text` as what a token is for: one line."""
    if not isinstance(text, str) or not text.strip():
        raise Invalid("note", text, "say what the token is for, or leave it out")
    if len(text) > MAX_NOTE_CHARS or not text.isprintable():
        raise Invalid("note", text, f"use one line of at most {MAX_NOTE_CHARS} printable characters")
    return text.strip()
