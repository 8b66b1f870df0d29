"""Evidence that a delivery reached a model's context, and its grades."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class EvidenceGrade(StrEnum):
    WITNESSED = "witnessed"
    """The offer's nonce is in the transcript before a later answer, or Covey's own loop received the response."""

    NAMED = "named"
    """The model used the message's id in a call."""

    INFERRED = "inferred"
    """An event happened that only a later answer of the model can cause."""


_STRENGTH: Final = {EvidenceGrade.INFERRED: 1, EvidenceGrade.NAMED: 2, EvidenceGrade.WITNESSED: 3}


def at_least(grade: EvidenceGrade | None, wanted: EvidenceGrade) -> bool:
    """Tell whether `grade` is as strong as `wanted`. None, for no evidence, never is."""
    return grade is not None and _STRENGTH[grade] >= _STRENGTH[wanted]


def strongest(grades: Iterable[EvidenceGrade]) -> EvidenceGrade:
    """Return the strongest of several grades."""
    return max(grades, key=_STRENGTH.__getitem__)


def better(old: EvidenceGrade | None, new: EvidenceGrade) -> EvidenceGrade:
    """Return the stronger of two grades: further evidence never weakens earlier evidence."""
    return new if old is None or _STRENGTH[new] > _STRENGTH[old] else old
