"""Identities and addresses: an actor with the grade of its verification, the address of an agent, a session or
everyone, and the tokens that prove an identity."""

import re
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple, NewType

from covey.core.errors import IdentityRefused, Invalid
from covey.core.names import OPERATOR, SPACE, AgentName, SessionId, is_uuid_like, parse_agent_name, parse_session_id


class Grade(StrEnum):
    """The way in which an identity was established, strongest first."""

    TOKEN = "token"
    """A credential of the HTTP or NATS surface, bound to an agent or to the operator."""

    SESSION = "session"
    """The secret that was minted when the session joined."""

    CLAIMED = "claimed"
    """A command-line flag, an environment variable or a foreign program: unverified."""

    SPACE = "space"
    """The space itself, such as in a notice of an expiry or an eviction; no caller can have this grade."""


class Identity(NamedTuple):
    """An agent, the session that it acts from, if any, and the grade of the verification."""

    agent: AgentName
    session: SessionId | None = None
    grade: Grade = Grade.CLAIMED

    @property
    def is_operator(self) -> bool:
        """True for the operator's name with a token: only a token makes an operator."""
        return self.agent == OPERATOR and self.grade is Grade.TOKEN

    def __str__(self) -> str:
        """Return the agent with its grade, as it is shown beside every message."""
        return f"{self.agent} ({self.grade})"


THE_SPACE: Final = Identity(SPACE, None, Grade.SPACE)

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_KEY = (  # not compiled here: few programs need it
    rf"agent:(?P<agent>[A-Za-z0-9_-]{{1,64}}):"
    rf"(?:main(?::(?P<main>{_UUID}))?|(?P<children>subagent:{_UUID}(?::subagent:{_UUID})*))"
)


class SessionKey(NamedTuple):
    """agent:<id>:main, agent:<id>:main:<uuid>, or agent:<id>:subagent:<uuid>[:subagent:<uuid>…]."""

    agent: AgentName
    main: SessionId | None = None
    children: tuple[SessionId, ...] = ()

    @property
    def depth(self) -> int:
        """The number of spawns between the main session and this one."""
        return len(self.children)

    @property
    def parent(self) -> "SessionKey | None":
        """The key of the session that spawned this one, or None for a main session."""
        return self._replace(children=self.children[:-1]) if self.children else None

    @property
    def root(self) -> "SessionKey":
        """The key of the main session at the top."""
        return self._replace(children=())

    @property
    def is_main(self) -> bool:
        return not self.children

    def child(self, session_id: SessionId) -> "SessionKey":
        """Return the key of a session that this one spawns."""
        return SessionKey(self.agent, None, (*self.children, session_id))

    def __str__(self) -> str:
        if self.children:
            return f"agent:{self.agent}" + "".join(f":subagent:{child}" for child in self.children)
        return f"agent:{self.agent}:main" + (f":{self.main}" if self.main else "")


def main_key(agent: AgentName, other: SessionId | None = None) -> SessionKey:
    """Return the key of an agent's main session; with `other`, the key of a further live main session."""
    return SessionKey(agent, other)


def parse_session_key(text: object) -> SessionKey:
    """Parse a session key."""
    match = re.fullmatch(_KEY, text) if isinstance(text, str) else None
    if match is None:
        raise Invalid("session key", text, "use agent:NAME:main or agent:NAME:subagent:UUID")
    agent = parse_agent_name(match["agent"])
    if match["children"]:
        children = match["children"].removeprefix("subagent:").split(":subagent:")
        return SessionKey(agent, None, tuple(SessionId(child) for child in children))
    return SessionKey(agent, SessionId(match["main"]) if match["main"] else None)


class AddressKind(StrEnum):
    AGENT = "agent"
    SESSION = "session"
    KEY = "key"
    EVERYONE = "everyone"


class Address(NamedTuple):
    """A parsed recipient."""

    kind: AddressKind
    value: str

    def __str__(self) -> str:
        return self.value


EVERYONE: Final = Address(AddressKind.EVERYONE, "*")


def parse_address(text: object) -> Address:
    """Parse `text` as an address: `*`, a session id, a session key (agent:…), or an agent's name."""
    if isinstance(text, Address):
        return text
    if not isinstance(text, str) or not text:
        raise Invalid("recipient", text, "name an agent, a session id, a session key or *")
    return _parse(text)


@lru_cache(maxsize=1024)
def _parse(text: str) -> Address:
    if text == "*":
        return EVERYONE
    if text.startswith("agent:"):
        return Address(AddressKind.KEY, str(parse_session_key(text)))
    if is_uuid_like(text):
        return Address(AddressKind.SESSION, parse_session_id(text))
    return Address(AddressKind.AGENT, parse_agent_name(text))


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
    from hashlib import sha256  # imported late because it brings OpenSSL, and most short-lived programs check no secret

    return sha256(secret.encode()).hexdigest()
