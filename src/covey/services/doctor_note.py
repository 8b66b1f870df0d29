"""The doctor's note: who let a finding be mended, in the journal."""

from typing import Final

from covey.core.event import Action
from covey.core.finding import Finding
from covey.services.act import Act, journal

MOST_ITEMS: Final = 100
"""How much of what a finding is about the journal names; the changes themselves are journalled one by one."""


async def note(act: Act, finding: Finding) -> None:
    """Write it down, in the transaction that mends it."""
    items = list(finding.items[:MOST_ITEMS])
    await journal(act, Action.SPACE_MENDED, finding=finding.code, what=finding.what, items=items)
