"""The disagreement: one point on which the records contradict the journal or a rule of the ledger."""

from typing import NamedTuple


class Disagreement(NamedTuple):
    what: str
    """Which fact it is about, such as `delivery state`."""
    id: str
    """The delivery, ticket, message, session, inbox or event."""
    expected: str
    """What follows from the journal, or what the rule asks for."""
    found: str
    """What the records say."""

    def __str__(self) -> str:
        return f"{self.what} of {self.id}: {self.expected} expected, {self.found} found"


def differing(what: str, id: str, expected: object, found: object) -> tuple[Disagreement, ...]:  # noqa: A002
    """Return nothing where the two are equal, else the disagreement."""
    return () if expected == found else (Disagreement(what, id, str(expected), str(found)),)
