"""Tokens: credentials bound to one agent or to the operator. Only their hash is stored."""

import re
from datetime import datetime
from typing import Final, NamedTuple, NewType

from covey.core.errors import IdentityRefused, Invalid
from covey.core.names import OPERATOR, AgentName

TokenId = NewType("TokenId", str)
"""The public id of a token: the first digits of its hash. The id does not reveal the token."""

PREFIX: Final = "covey_"
"""The prefix of every token, so that people and secret scanners recognise a leaked one."""

MAX_NOTE_CHARS: Final = 200
_ID_DIGITS: Final = 12
_TOKEN = re.compile(PREFIX + r"[A-Za-z0-9_-]{16,256}")


class Token(NamedTuple):
    hash: str
    agent: AgentName
    """The agent that the token stands for; the name `operator` makes it the operator's token."""
    created_at: datetime
    revoked_at: datetime | None = None
    note: str = ""
    used_at: datetime | None = None
    """The time at which the token was last used, to the hour; None if it never was."""

    @property
    def id(self) -> TokenId:
        return token_id(self.hash)

    @property
    def is_operators(self) -> bool:
        return self.agent == OPERATOR


def token_from(secret: str) -> str:
    """Return the token that its holder presents, made from a random secret."""
    return PREFIX + secret


def token_id(token_hash: str) -> TokenId:
    """Return the public id of the token with that hash."""
    return TokenId(token_hash[:_ID_DIGITS])


def check_token(text: object) -> str:
    """Return `text` if it has the format of a token. Otherwise raise IdentityRefused, without repeating the text: it
    may be another secret."""
    if not isinstance(text, str) or not _TOKEN.fullmatch(text):
        raise IdentityRefused(f"that is no token: one begins with {PREFIX} and has no spaces")
    return text


def parse_token_id(text: object) -> TokenId:
    """Parse the id of a token. If a caller passes a token instead, the error does not repeat it."""
    if not isinstance(text, str) or not re.fullmatch(f"[0-9a-f]{{{_ID_DIGITS}}}", text):
        shown = PREFIX + "…" if isinstance(text, str) and PREFIX in text else text
        raise Invalid("token id", shown, f"use the {_ID_DIGITS} digits that a list of tokens shows, not the token")
    return TokenId(text)


def parse_note(text: object) -> str:
    """Parse the note on the purpose of a token: one line."""
    if not isinstance(text, str) or not text.strip():
        raise Invalid("note", text, "say what the token is for, or leave it out")
    if len(text) > MAX_NOTE_CHARS or not text.isprintable():
        raise Invalid("note", text, f"use one line of at most {MAX_NOTE_CHARS} printable characters")
    return text.strip()


def hash_secret(secret: str) -> str:
    """Return the hash that is stored for a secret."""
    from hashlib import sha256  # here because it brings OpenSSL, and most short-lived programs check no secret

    return sha256(secret.encode()).hexdigest()
