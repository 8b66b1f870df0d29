"""The address of a message: an agent, one session, or everyone."""

from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.ids import parse_session_id
from covey.core.names import is_uuid_like, parse_agent_name
from covey.core.session_key import parse_session_key


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
