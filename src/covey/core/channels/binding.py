"""The binding: the agent or session that receives what people say in a conversation."""

from datetime import datetime
from typing import Final, NamedTuple

from covey.core.address import Address, AddressKind, parse_address
from covey.core.errors import Invalid
from covey.core.names import AgentName

MAX_CONVERSATION_CHARS: Final = 256
MAX_PERSON_CHARS: Final = 128

OWN: Final = ""
"""The conversation of a channel that has only one. Its binding is the default for conversations without their own."""


class Binding(NamedTuple):
    channel: AgentName
    conversation: str
    to: Address
    """An agent, or one session of it by key or id."""
    bound_at: datetime


def parse_conversation(text: object) -> str:
    """Parse the name of a conversation, as its channel gives it."""
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_CONVERSATION_CHARS or not text.isprintable():
        raise Invalid("conversation", text, f"use 1 to {MAX_CONVERSATION_CHARS} printable characters")
    return text


def parse_person(text: object) -> str:
    """Parse the name of the person who speaks, as the channel gives it."""
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_PERSON_CHARS or not text.isprintable():
        raise Invalid("person", text, f"use 1 to {MAX_PERSON_CHARS} printable characters")
    return text


def parse_bound(text: object) -> Address:
    """Parse the address that a conversation is bound to: one agent or session."""
    address = parse_address(text)
    if address.kind is AddressKind.EVERYONE:
        raise Invalid("recipient", text, "a conversation is bound to one agent or session")
    return address
