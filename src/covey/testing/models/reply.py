"""Replies: the answers to a client, and their interruptions."""

from collections.abc import Mapping
from typing import NamedTuple

from covey.core.json import JsonObject
from covey.testing.models.dialect import Event
from covey.testing.models.gate import Gate
from covey.testing.models.script import Cut, Hang


class Reply(NamedTuple):
    """One answer on the wire: a body, or the events of a stream."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: JsonObject | None = None
    events: tuple[Event, ...] = ()
    gate: Gate | None = None
    ends: Cut | Hang | None = None
    """The way in which the reply breaks off, or None for a normal end."""
