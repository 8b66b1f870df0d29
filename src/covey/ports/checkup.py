"""The checkup: an examination of one area of a space, and its repair."""

from collections.abc import Callable, Sequence
from typing import Protocol

from covey.core.care.finding import Area, Examination, Finding
from covey.core.identity import Identity

Tell = Callable[[int, int | None], None]
"""A callback for the progress of a long call: the amount done, and the total or None."""


class Checkup(Protocol):
    """Examination and repair of one area, in the calling thread.

    Checkups below the records (files, sockets, the database as a file) also work on a store that can't be opened.
    """

    @property
    def area(self) -> Area: ...

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        """Examine the area, and change nothing. Damage is a finding and not an error. Slow checks are skipped unless
        `thorough` is true."""
        ...

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        """Apply the remedies of these findings, as far as they still apply. A change of the records is journalled with
        its actor. Raise Unavailable if a remedy can't be applied."""
        ...
