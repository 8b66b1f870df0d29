"""Who acts, and how sure the space is of it."""

from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.ids import SessionId
from covey.core.names import OPERATOR, SPACE, AgentName


class Grade(StrEnum):
    """How an identity was established, strongest first."""

    TOKEN = "token"
    """A credential of the HTTP or NATS surface, bound to an agent or to the operator."""

    SESSION = "session"
    """The secret that was minted when the session joined."""

    CLAIMED = "claimed"
    """A command-line flag, an environment variable, a foreign program: nobody checked."""

    SPACE = "space"
    """The space itself, telling of an expiry or an eviction; no caller can have it."""


class Identity(NamedTuple):
    """An agent, the session it acts from where there is one, and the grade of that knowledge."""

    agent: AgentName
    session: SessionId | None = None
    grade: Grade = Grade.CLAIMED

    @property
    def is_operator(self) -> bool:
        """Only a token makes an operator."""
        return self.agent == OPERATOR and self.grade is Grade.TOKEN

    def __str__(self) -> str:
        """Render provenance with its grade, as it stands beside every message."""
        return f"{self.agent} ({self.grade})"


THE_SPACE: Final = Identity(SPACE, None, Grade.SPACE)
