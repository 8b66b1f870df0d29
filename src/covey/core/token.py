"""Tokens: credentials bound to one agent or to the operator. Only their hash is stored."""

from datetime import datetime
from typing import NamedTuple

from covey.core.names import AgentName


class Token(NamedTuple):
    hash: str
    agent: AgentName
    """Whom it stands for; the name `operator` makes the operator."""
    created_at: datetime
    revoked_at: datetime | None = None
    note: str = ""
