"""The pause: the operator's order that an agent, or the whole space, receives and sends nothing for a while."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple, cast

from covey.core.errors import Invalid
from covey.core.json import to_json
from covey.core.names import AgentName
from covey.core.times import format_instant, parse_instant

WHOLE: Final = AgentName("*")
"""The key for the whole space; no agent has that name."""

MAX_REASON_CHARS: Final = 1_000


class Pause(NamedTuple):
    by: AgentName
    at: datetime
    reason: str = ""


def write_pauses(pauses: Mapping[AgentName, Pause]) -> str:
    """Return all pauses as the value of the setting."""
    fields = {name: {"by": p.by, "at": format_instant(p.at), "reason": p.reason} for name, p in pauses.items()}
    return to_json(fields) if fields else ""


@lru_cache(maxsize=8)
def read_pauses(value: str | None) -> Mapping[AgentName, Pause]:
    """Parse all pauses from the value of the setting."""
    fields = cast(Mapping[AgentName, Mapping[str, str]], json.loads(value or "{}"))
    return {name: Pause(AgentName(p["by"]), parse_instant(p["at"]), p["reason"]) for name, p in fields.items()}


def parse_reason(text: object) -> str:
    """Parse the reason of a pause: a line for people."""
    if not isinstance(text, str) or len(text) > MAX_REASON_CHARS or not text.isprintable():
        raise Invalid("reason", text, f"use printable text of at most {MAX_REASON_CHARS:,} characters")
    return text
