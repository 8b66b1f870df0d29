"""The journal under examination: a check that the records follow from it, and the entry that a repair leaves in it."""

from collections.abc import Sequence
from typing import Final

from covey.core.care.diagnoses import JOURNAL_DISAGREES
from covey.core.care.finding import Area, Examination, Finding
from covey.core.identity import Identity
from covey.core.ledger.event import Action
from covey.core.reporting import counted
from covey.ports.care import ProgressCallback
from covey.services.act import Act, journal
from covey.services.care.audit import Audit


class JournalCheckup:
    area = Area.JOURNAL

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        if not thorough:
            return Examination(self.area, "not compared with the records, for a quick check", is_done=False)
        faults = await self._audit.check(tell)
        findings: list[Finding] = []
        if faults:
            what = f"the records and the journal disagree on {counted(len(faults), 'point')}"
            findings.append(Finding(JOURNAL_DISAGREES, what, tuple(map(str, faults))))
        return Examination(self.area, "the records match it", tuple(findings))

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        """Do nothing: either side could be the wrong one."""


MOST_ITEMS: Final = 100
"""The number of a finding's items that the journal names. The changes themselves are journalled one by one."""


async def note(act: Act, finding: Finding) -> None:
    """Journal a finding, in the transaction that repairs it."""
    items = list(finding.items[:MOST_ITEMS])
    await journal(act, Action.SPACE_MENDED, finding=finding.code, what=finding.what, items=items)
