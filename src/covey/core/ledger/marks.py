"""Marks: facts about a message that the space decides. No sender can set one.

This is the whole list. Services write marks when they compose a message. A `Draft` has no place for them, and toolkits,
verbs, clients, foreign folders and wires fill nothing but drafts. The `metadata`, `subject`, `round` and text of a
message are the sender's plain data: they decide nothing.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.names import AgentName, parse_agent_name


class Step(StrEnum):
    """The role of a message in a dialogue of two sessions."""

    ROUND = "round"
    """A round of a talk: the other side answers it."""
    END = "end"
    """REPLY_SKIP of the side that owes no answer."""
    ANNOUNCE = "announce"
    """The request for an announcement to people at the end of a talk."""
    WORK = "work"
    """Work that a coordinator gives to a worker."""


class DialogueKind(StrEnum):
    """The kinds of dialogue that two sessions can have. Each kind is found by the pair of its sessions."""

    TALK = "talk"
    WORK = "work"


class Marks(NamedTuple):
    pair: str | None = None
    """The two sessions whose dialogue begins with the message (`pair_of`)."""
    partner: AgentName | None = None
    """The agent of the session that a talk is addressed to."""
    step: Step | None = None
    person: str | None = None
    """The person who sent the message through a channel, by the channel's name for them."""
    run: str | None = None
    """The run of the child that the message asks, or whose result it is."""
    status: str | None = None
    """The final state of the work whose result the message is: a RunState."""
    reason: str | None = None
    """The reason of that state."""
    brief: str | None = None
    """The task of a child in the words of its parent, without the rest of the prompt."""
    foreign_id: str | None = None
    """The message's id in the file of a foreign program that it was read from."""
    foreign_task: str | None = None
    """The id of the task in that file."""


NAMES: Final = Marks._fields
"""The names of all marks."""

BY_WHOLE_SPACE: Final = ("person", "foreign_id", "foreign_task")
"""Marks that only services over a whole space set, never services that are limited to an agent's credentials."""


def pair_of(what: DialogueKind, one: Identity, other: Identity) -> str:
    """Return the name of a dialogue between two sessions, the same from either side. For an agent without a session,
    the agent's name is used; no agent's name can be a session id."""
    first, second = sorted((_end(one), _end(other)))
    return f"{what} {first} {second}"


def is_part_of(pair: str, one: Identity) -> bool:
    """Tell whether `one` is one of the two sessions of a dialogue."""
    return _end(one) in pair.split(" ")[1:]


def encode_marks(marks: Marks) -> dict[str, Json]:
    """Return marks as JSON data, without those that are absent."""
    return {name: value for name, value in zip(NAMES, marks, strict=True) if value is not None}


def decode_marks(data: Mapping[str, Json]) -> Marks | None:
    """Parse marks from JSON data; None if there are none. Unknown marks come from a newer program and are ignored."""
    known = {name: data[name] for name in NAMES if data.get(name) is not None}
    if not known:
        return None
    texts = {name: _text(name, value) for name, value in known.items()}
    step, partner = texts.pop("step", None), texts.pop("partner", None)
    return Marks(
        **texts,
        partner=None if partner is None else parse_agent_name(partner),
        step=Step(step) if step in set(Step) else None,
    )


def _text(name: str, value: Json) -> str:
    if not isinstance(value, str):
        raise Invalid(f"mark {name}", value, "use a text")
    return value


def _end(one: Identity) -> str:
    return one.session or one.agent
