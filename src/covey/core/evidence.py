"""Evidence that a delivery reached a model's context, and how good it is."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class EvidenceGrade(StrEnum):
    WITNESSED = "witnessed"
    """The offer's nonce stands in the transcript before a later answer, or our own loop got the response."""

    NAMED = "named"
    """The model used the message's id in a call."""

    INFERRED = "inferred"
    """An event happened that only a later model answer can cause."""


_STRENGTH: Final = {EvidenceGrade.INFERRED: 1, EvidenceGrade.NAMED: 2, EvidenceGrade.WITNESSED: 3}


def at_least(grade: EvidenceGrade | None, wanted: EvidenceGrade) -> bool:
    """Tell whether `grade` is as good as `wanted`. No evidence is never good enough."""
    return grade is not None and _STRENGTH[grade] >= _STRENGTH[wanted]


def strongest(grades: Iterable[EvidenceGrade]) -> EvidenceGrade:
    """Return the best of several grades."""
    return max(grades, key=_STRENGTH.__getitem__)


def better(old: EvidenceGrade | None, new: EvidenceGrade) -> EvidenceGrade:
    """Return the stronger of two grades: evidence is never weakened by more of it."""
    return new if old is None or _STRENGTH[new] > _STRENGTH[old] else old
