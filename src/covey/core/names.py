"""Names of agents, scopes, labels and subjects. They are parsed once, at the edge, because they become paths and NATS
subjects."""

import re
from typing import Final, NewType, cast

from covey.core.errors import Invalid
from covey.core.limits import MAX_FOREIGN_NAME_CHARS, MAX_SUBJECT_CHARS

AgentName = NewType("AgentName", str)
Scope = NewType("Scope", str)
Label = NewType("Label", str)
Subject = NewType("Subject", str)

OPERATOR: Final = AgentName("operator")
"""The person in charge. Only a token makes an operator."""

SPACE: Final = AgentName("covey")
"""The space itself, as the sender of notices."""

ROLES: Final = frozenset({"assistant", "developer", "function", "human", "model", "system", "tool", "user"})
"""Roles in the requests of model providers. A model would take an agent of such a name for something else."""

RESERVED: Final = frozenset({OPERATOR, SPACE}) | ROLES
"""Names that no agent and no label can have, in the normalized form that `is_reserved` compares."""

_AGENT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SCOPE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_SUBJECT = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_UUID_LIKE = re.compile(r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}")


def parse_agent_name(text: object) -> AgentName:
    """Parse the name of an agent. A name with the form of a uuid is refused, because session ids have it."""
    if not isinstance(text, str) or not _AGENT.fullmatch(text):
        raise Invalid("agent name", text, "use 1 to 64 of A-Z a-z 0-9 _ -")
    if _UUID_LIKE.fullmatch(text):
        raise Invalid("agent name", text, "the form of a uuid is kept for session ids")
    return AgentName(text)


def is_reserved(name: str) -> bool:
    """Tell whether a reader would take a name for a reserved one. Case, Unicode variants (NFKC) and dashes, underscores
    or dots around the name make no difference."""
    plain = name if name.isascii() else _normalized(name)
    return plain.casefold().strip("-_.") in RESERVED


def _normalized(name: str) -> str:
    from unicodedata import normalize  # here because names of agents are ASCII

    return normalize("NFKC", name)


def parse_scope(text: object) -> Scope:
    """Parse a scope."""
    if not isinstance(text, str) or not _SCOPE.fullmatch(text):
        raise Invalid("scope", text, "use 1 to 128 of A-Z a-z 0-9 . _ - and no leading dot")
    return Scope(text)


def parse_label(text: object) -> Label:
    """Parse the label of a session."""
    if not isinstance(text, str) or not _SCOPE.fullmatch(text):
        raise Invalid("label", text, "use 1 to 128 of A-Z a-z 0-9 . _ - and no leading dot")
    return Label(text)


def parse_subject(text: object) -> Subject:
    """Parse a subject: a topic in kebab-case, such as missing-test."""
    if not isinstance(text, str) or len(text) > MAX_SUBJECT_CHARS or not _SUBJECT.fullmatch(text):
        raise Invalid("subject", text, f"use kebab-case (such as missing-test), at most {MAX_SUBJECT_CHARS} characters")
    return Subject(text)


def known_scope(text: object) -> Scope:
    """Parse a scope that may exist: one that `parse_scope` accepts, or one of a foreign program."""
    if not _is_readable(text):
        raise Invalid("scope", text, f"use 1 to {MAX_FOREIGN_NAME_CHARS} printable characters")
    return Scope(cast(str, text))


def known_subject(text: object) -> Subject:
    """Parse a subject that may exist: one that `parse_subject` accepts, or one of a foreign program."""
    if not _is_readable(text):
        raise Invalid("subject", text, f"use 1 to {MAX_FOREIGN_NAME_CHARS} printable characters")
    return Subject(cast(str, text))


def _is_readable(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) <= MAX_FOREIGN_NAME_CHARS and text.isprintable()


def automatic_name(index: int) -> AgentName:
    """Return the automatic name number `index`: agentA … agentZ, agentAA …"""
    letters = ""
    index += 1
    while index > 0:
        index, digit = divmod(index - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return AgentName("agent" + letters)


def is_uuid_like(text: str) -> bool:
    """Tell whether `text` has the form of a uuid."""
    return _UUID_LIKE.fullmatch(text) is not None
