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
    """The part that a message has in what two sessions do with each other."""

    ROUND = "round"
    """A round of a talk: the other side answers it."""
    END = "end"
    """REPLY_SKIP of the side that owes no answer."""
    ANNOUNCE = "announce"
    """The question what people are to be told of a talk."""
    WORK = "work"
    """Something that a coordinator gives a worker to do."""


class Together(StrEnum):
    """The kinds of dialogue that two sessions can have. Each kind is found by the pair of its sessions."""

    TALK = "talk"
    WORK = "work"


class Marks(NamedTuple):
    pair: str | None = None
    """The two sessions whose dialogue begins with the message (`pair_of`)."""
    partner: AgentName | None = None
    """The agent of the session that a talk begins with."""
    step: Step | None = None
    person: str | None = None
    """The person who said it through a channel, as the channel names them."""
    run: str | None = None
    """The run of the child that is asked, or whose result this is."""
    status: str | None = None
    """How the errand ended whose result this is: a RunState."""
    reason: str | None = None
    """Why it ended so."""
    brief: str | None = None
    """The task of a child in the words of its parent, without the rest of the prompt."""
    foreign_id: str | None = None
    """The id in the file of a foreign program that the message was read from."""
    foreign_task: str | None = None
    """The id of the task in that file."""


NAMES: Final = Marks._fields
"""Every mark there is."""

BY_WHOLE_SPACE: Final = ("person", "foreign_id", "foreign_task")
"""Marks that only services over a whole space set, never those that an agent's credentials narrow."""


def pair_of(what: Together, one: Identity, other: Identity) -> str:
    """Return the name of a dialogue between two sessions, the same from either side. An agent that speaks without a
    session stands for itself; no agent has the name of a session."""
    first, second = sorted((_end(one), _end(other)))
    return f"{what} {first} {second}"


def is_part_of(pair: str, one: Identity) -> bool:
    """Tell whether `one` is one of the two sessions of a dialogue."""
    return _end(one) in pair.split(" ")[1:]


def encode_marks(marks: Marks) -> dict[str, Json]:
    """Return marks as JSON data, without those that are absent."""
    return {name: value for name, value in zip(NAMES, marks, strict=True) if value is not None}


def decode_marks(data: Mapping[str, Json]) -> Marks | None:
    """Return the marks that JSON data stands for; None where there are none. Unknown ones are those of a newer
    program, and have no effect."""
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
