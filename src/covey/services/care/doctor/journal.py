"""The journal under examination: a check that the records follow from the journal."""

from collections.abc import Sequence

from covey.core.care.diagnoses import JOURNAL_DISAGREES
from covey.core.care.finding import Area, Examination, Finding
from covey.core.identity import Identity
from covey.core.text.wording import counted
from covey.ports.checkup import Tell
from covey.services.care.audit import Audit


class JournalCheckup:
    area = Area.JOURNAL

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        if not thorough:
            return Examination(self.area, "not compared with the records, to be quick", is_done=False)
        faults = await self._audit.check(tell)
        findings: list[Finding] = []
        if faults:
            what = f"the records and the journal disagree on {counted(len(faults), 'point')}"
            findings.append(Finding(JOURNAL_DISAGREES, what, tuple(map(str, faults))))
        return Examination(self.area, "the records follow from it", tuple(findings))

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        """Do nothing: either side could be the wrong one."""
