"""The disagreement: one point on which the records contradict the journal or a rule of the ledger."""

from typing import NamedTuple


class Disagreement(NamedTuple):
    what: str
    """The name of the disputed fact, such as `delivery state`."""
    id: str
    """The id of the delivery, ticket, message, session, inbox or event."""
    expected: str
    """The value that follows from the journal or the rule."""
    found: str
    """The value in the records."""

    def __str__(self) -> str:
        return f"{self.what} of {self.id}: {self.expected} expected, {self.found} found"


def differing(what: str, id: str, expected: object, found: object) -> tuple[Disagreement, ...]:  # noqa: A002
    """Return an empty tuple if the two values are equal, else one disagreement."""
    return () if expected == found else (Disagreement(what, id, str(expected), str(found)),)
