"""The checkup: a look for what is wrong in one area of a space."""

from collections.abc import Callable, Sequence
from typing import Protocol

from covey.core.finding import Area, Examination, Finding
from covey.core.identity import Identity

Tell = Callable[[int, int | None], None]
"""Called now and then while a look takes long: how much is done, of how much where that is known."""


class Checkup(Protocol):
    """One area, examined and mended in the calling thread.

    Those beneath the records (files, sockets, the database as a file) open what nobody else can open any more.
    """

    @property
    def area(self) -> Area: ...

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        """Look, and change nothing. Damage is a finding and not an error. Where it is not `thorough`, what takes long
        is left out."""
        ...

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        """Do what the remedies of these findings say, as far as there is still something to do. A change of the records
        is journalled with its actor. Unavailable where it can't be done."""
        ...
