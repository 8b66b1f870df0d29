"""The doctor's note: a journal entry with the actor who approved a repair."""

from typing import Final

from covey.core.care.finding import Finding
from covey.core.ledger.event import Action
from covey.services.act import Act, journal

MOST_ITEMS: Final = 100
"""The number of a finding's items that the journal names. The changes themselves are journalled one by one."""


async def note(act: Act, finding: Finding) -> None:
    """Journal a finding, in the transaction that repairs it."""
    items = list(finding.items[:MOST_ITEMS])
    await journal(act, Action.SPACE_MENDED, finding=finding.code, what=finding.what, items=items)
