"""The identity of an actor, with the grade of its verification."""

from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.ids import SessionId
from covey.core.names import OPERATOR, SPACE, AgentName


class Grade(StrEnum):
    """The way in which an identity was established, strongest first."""

    TOKEN = "token"
    """A credential of the HTTP or NATS surface, bound to an agent or to the operator."""

    SESSION = "session"
    """The secret that was minted when the session joined."""

    CLAIMED = "claimed"
    """A command-line flag, an environment variable or a foreign program: unverified."""

    SPACE = "space"
    """The space itself, such as in a notice of an expiry or an eviction; no caller can have this grade."""


class Identity(NamedTuple):
    """An agent, the session that it acts from, if any, and the grade of the verification."""

    agent: AgentName
    session: SessionId | None = None
    grade: Grade = Grade.CLAIMED

    @property
    def is_operator(self) -> bool:
        """True for the operator's name with a token: only a token makes an operator."""
        return self.agent == OPERATOR and self.grade is Grade.TOKEN

    def __str__(self) -> str:
        """Return the agent with its grade, as it is shown beside every message."""
        return f"{self.agent} ({self.grade})"


THE_SPACE: Final = Identity(SPACE, None, Grade.SPACE)
