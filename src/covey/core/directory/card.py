"""The card: an agent's configuration, as its owner wrote it, with the capacity of its inbox and the policy when the
inbox is full. Runtime state is computed, never stored here."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, cast

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.ledger.message import Kind
from covey.core.limits import DEFAULT_INBOX_CAPACITY, MAX_CARD_CHARS, MAX_COUNT, PEERS_INBOX_CAPACITY
from covey.core.names import AgentName, parse_agent_name


class Overflow(StrEnum):
    HOLD = "hold"
    """Keep the queued messages and refuse new ones, with inbox-full."""

    EVICT_OLDEST = "evict-oldest"
    """Evict the oldest notify, then the oldest response or update, then the oldest request."""

    FIRST_IN_FIRST_OUT = "first-in-first-out"
    """Evict the oldest message of any kind: the rule of the peers policy."""


class Capacity(NamedTuple):
    limit: int = DEFAULT_INBOX_CAPACITY
    overflow: Overflow = Overflow.HOLD


DEFAULT_CAPACITY: Final = Capacity()
PEERS_CAPACITY: Final = Capacity(PEERS_INBOX_CAPACITY, Overflow.FIRST_IN_FIRST_OUT)

EVICTION_ORDER: Final[dict[Overflow, Sequence[frozenset[Kind]]]] = {
    Overflow.HOLD: (),
    Overflow.EVICT_OLDEST: (
        frozenset({Kind.NOTIFY}),
        frozenset({Kind.RESPONSE, Kind.UPDATE}),
        frozenset({Kind.REQUEST}),
    ),
    Overflow.FIRST_IN_FIRST_OUT: (frozenset(Kind),),
}
"""For each policy, the kinds that may be evicted, in the order in which they are tried. `evict-oldest` never evicts a
task: its delegator was told that it arrived."""


def parse_capacity(limit: object, overflow: object) -> Capacity:
    """Parse a capacity from the values of a card or a caller."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_COUNT:
        raise Invalid("inbox capacity", limit, f"use a whole number from 1 to {MAX_COUNT:,}")
    try:
        return Capacity(limit, Overflow(overflow))
    except ValueError:
        raise Invalid("inbox overflow", overflow, "use " + ", ".join(Overflow)) from None


ANYONE: Final = "*"


class TaskOverflow(StrEnum):
    """The policy for a task over the quota."""

    REJECT = "reject"
    QUEUE = "queue"


class Card(NamedTuple):
    description: str = ""
    capabilities: tuple[str, ...] = ()
    allow_from: tuple[str, ...] = (ANYONE,)
    """Agents that may send to this agent."""
    allowed_delegates: tuple[str, ...] = (ANYONE,)
    """Agents that this agent may send to."""
    quota: int = 3
    """The number of tasks that the agent works on at once."""
    overflow: TaskOverflow = TaskOverflow.QUEUE
    workspace: str | None = None
    command: tuple[str, ...] = ()
    capacity: Capacity = DEFAULT_CAPACITY
    max_depth: int = 1
    """The depth to which the agent's sessions may start children. With 1, a main session may, and its children may
    not."""
    max_children: int = 5
    """The number of children that the agent may have at once, over all its sessions."""
    allow_spawn: tuple[str, ...] = (ANYONE,)
    """Other agents whose children the agent may start. It may always start children of its own."""
    channel: bool = False
    """True for a channel: the agent's mail is posted to people, and no program joins as this agent."""
    wire_name: str | None = None
    """The name that a foreign program gives itself on the peers' wire; None for an agent of this space. Only the bridge
    to the wire sets the name."""


class Agent(NamedTuple):
    """A named participant: its card, and the status that it announced."""

    name: AgentName
    card: Card
    registered_at: datetime
    status: str | None = None


class Presence(StrEnum):
    IDLE = "idle"
    BUSY = "busy"
    OFFLINE = "offline"


def encode_card(card: Card) -> dict[str, Json]:
    """Return the card as JSON data."""
    return {
        "description": card.description,
        "capabilities": list(card.capabilities),
        "allow_from": list(card.allow_from),
        "allowed_delegates": list(card.allowed_delegates),
        "quota": card.quota,
        "overflow": str(card.overflow),
        "workspace": card.workspace,
        "command": list(card.command),
        "capacity": {"limit": card.capacity.limit, "overflow": str(card.capacity.overflow)},
        "max_depth": card.max_depth,
        "max_children": card.max_children,
        "allow_spawn": list(card.allow_spawn),
        "channel": card.channel,
        **({} if card.wire_name is None else {"wire_name": card.wire_name}),
    }


def check_card(card: Card) -> Card:
    """Return a card that a program made, after checking its fields."""
    # A named tuple does not check the types of its fields.
    lists = cast(
        tuple[object, ...],
        (card.capabilities, card.allow_from, card.allowed_delegates, card.command, card.allow_spawn),
    )
    if not isinstance(cast(object, card.capacity), Capacity) or not all(isinstance(i, list | tuple) for i in lists):
        raise Invalid("card", card, "its fields have the types that Card declares")
    return parse_card(encode_card(card))


def parse_card(data: object) -> Card:
    """Parse a card from JSON data. Missing fields get their defaults; unknown fields are ignored."""
    if not isinstance(data, Mapping):
        raise Invalid("card", data, "use an object with the card's fields")
    return _parse(cast(Mapping[str, Json], data))


def _parse(data: Mapping[str, Json]) -> Card:
    blank = Card()
    try:
        overflow = TaskOverflow(data.get("overflow", blank.overflow))
    except ValueError:
        raise Invalid("overflow", data.get("overflow"), "use reject or queue") from None
    capacity = data.get("capacity")
    if capacity is not None and not isinstance(capacity, Mapping):
        raise Invalid("capacity", capacity, "use an object with limit and overflow")
    channel = data.get("channel", blank.channel)
    if not isinstance(channel, bool):
        raise Invalid("channel", channel, "use true or false")
    card = Card(
        description=_text(data.get("description", ""), "description"),
        capabilities=_texts(data.get("capabilities", ()), "capabilities"),
        allow_from=parse_allow(_texts(data.get("allow_from", blank.allow_from), "allow_from")),
        allowed_delegates=parse_allow(_texts(data.get("allowed_delegates", blank.allowed_delegates), "delegates")),
        quota=_count(data.get("quota", blank.quota), "quota"),
        overflow=overflow,
        workspace=None if data.get("workspace") is None else _text(data.get("workspace"), "workspace"),
        command=_texts(data.get("command", ()), "command"),
        capacity=blank.capacity
        if capacity is None
        else parse_capacity(
            capacity.get("limit", blank.capacity.limit), capacity.get("overflow", blank.capacity.overflow)
        ),
        max_depth=_count(data.get("max_depth", blank.max_depth), "max_depth"),
        max_children=_count(data.get("max_children", blank.max_children), "max_children"),
        allow_spawn=parse_allow(_texts(data.get("allow_spawn", blank.allow_spawn), "allow_spawn")),
        channel=channel,
        wire_name=None if data.get("wire_name") is None else _text(data.get("wire_name"), "wire_name"),
    )
    allowed = (*card.allow_from, *card.allowed_delegates, *card.allow_spawn)
    texts = (card.description, *card.capabilities, *allowed, *card.command)
    if (size := sum(map(len, texts))) > MAX_CARD_CHARS:
        raise Invalid("card", f"{size} characters", f"all its texts together are at most {MAX_CARD_CHARS:,} characters")
    return card


def parse_allow(names: Iterable[str]) -> tuple[str, ...]:
    """Parse an allow list: names of agents, or * for any agent."""
    return tuple(name if name == ANYONE else parse_agent_name(name) for name in names)


def _count(value: Json, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_COUNT:
        raise Invalid(what, value, f"use a whole number from 0 to {MAX_COUNT:,}")
    return value


def _text(value: Json, what: str) -> str:
    if not isinstance(value, str) or len(value) > 10_000 or any(_is_odd(c) for c in value):
        raise Invalid(what, value, "use printable text of at most 10,000 characters")
    return value


def _is_odd(character: str) -> bool:
    """Tell whether a character is a control character or a surrogate."""
    return (character < " " and character not in "\n\t") or "\ud800" <= character <= "\udfff"


def _texts(value: Json, what: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, list | tuple) or len(value) > 1000:
        raise Invalid(what, value, "use a list of at most 1,000 texts")
    return tuple(_text(item, what) for item in value)
