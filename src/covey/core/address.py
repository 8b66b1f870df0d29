"""The address of a message: an agent, one session, or everyone."""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.ids import SessionId, parse_session_id
from covey.core.names import AgentName, is_uuid_like, parse_agent_name

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
