"""One visit of the doctor: a look at everything, consent, mending, and a second look."""

from collections.abc import Collection, Sequence
from time import monotonic
from typing import Final

from covey.core.counted import counted
from covey.core.diagnoses import STORE_MISSING
from covey.core.errors import Unavailable
from covey.core.finding import Area, Examination, Finding
from covey.core.identity import THE_SPACE, Identity
from covey.engines import connect_inline, engine_of
from covey.ports.checkup import Checkup, Tell
from covey.ports.space import Ports
from covey.services.doctor import Doctor, Failure, record_checkups
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.consent import agreed, can_ask
from covey.surfaces.cli.exits import DONE, REFUSED, UNAVAILABLE
from covey.surfaces.cli.findings import (
    all_findings,
    examination_document,
    finding_document,
    show_examination,
    show_finding,
    show_left_out,
)
from covey.surfaces.cli.user import actor_or_user

EVERY_SECONDS: Final = 0.2
"""How often a person hears how far a long look is."""


class Visit:
    """One call of the doctor."""

    def __init__(self, call: Call, codes: Collection[str]) -> None:
        self._call = call
        self._output = call.output
        self._codes = codes
        self._ports: Ports | None = None
        self._doctor = Doctor(engine_of(call.url).care.checkups_beneath(call.url), self._open)
        self._is_telling = False
        self._mended: list[Finding] = []
        self._failed: list[Failure] = []

    def run(self) -> int:
        examinations = self._examine(shown=not self._output.as_json)
        findings = all_findings(examinations)
        if not self._output.as_json:
            for finding in findings:
                show_finding(self._output, finding)
        tried: set[str] = set()
        while due := [f for f in findings if f.remedy and f.code in self._codes and f.code not in tried]:
            if not self._call.options.fix or not self._may_mend(due):
                break
            tried |= {finding.code for finding in due}
            self._mend(due)
            examinations = self._examine(shown=False)
            left = all_findings(examinations)
            if not self._output.as_json:
                for finding in left:
                    if finding not in findings:
                        show_finding(self._output, finding)
            findings = left
        self._conclude(examinations)
        if any(finding.code == STORE_MISSING.code for finding in findings):
            return UNAVAILABLE
        return REFUSED if findings else DONE

    def close(self) -> None:
        if self._ports is not None:
            self._call.run(self._ports.close())

    def _open(self) -> Sequence[Checkup]:
        url = self._call.url
        self._ports = connect_inline(url, [], self._call.report)
        return *engine_of(url).care.checkups_beside(url, self._ports.store), *record_checkups(self._ports)

    def _examine(self, *, shown: bool) -> Sequence[Examination]:
        async def look() -> Sequence[Examination]:
            found: list[Examination] = []
            async for examination in self._doctor.examine(thorough=not self._call.options.quick, tell=self._teller):
                self._status("")
                found.append(examination)
                if shown:
                    show_examination(self._output, examination)
            if shown:
                show_left_out(self._output, found)
            return found

        return self._call.run(look())

    def _teller(self, area: Area) -> Tell:
        """Return what shows a person how far the look at one area is."""
        began_at = shown_at = monotonic()

        def tell(done: int, total: int | None) -> None:
            nonlocal shown_at
            now = monotonic()
            if now - shown_at >= EVERY_SECONDS:
                shown_at = now
                far = f" ({done / total:.0%})" if total else ""
                self._status(f"{area}: looking for {now - began_at:.0f} s{far}")

        return tell

    def _status(self, line: str) -> None:
        """Show what is going on, or take it away."""
        if line or self._is_telling:
            self._output.status(line)
        self._is_telling = bool(line)

    def _may_mend(self, due: Sequence[Finding]) -> bool:
        if self._call.options.yes:
            return True
        if not can_ask(self._output):
            self._output.note("covey: nothing was mended: nobody is there to agree. Use --yes.")
            return False
        self._output.text()
        for finding in due:
            self._output.pieces((f"{finding.code}: ", "bold"), (f"{finding.remedy}.", ""), margin="  ")
        return agreed(self._output, "Do this?")

    def _mend(self, due: Sequence[Finding]) -> None:
        self._status("mending …")
        failures = self._call.run(self._doctor.mend(due, _actor(self._call)))
        self._status("")
        failed = {failure.finding for failure in failures}
        self._failed += failures
        self._mended += [finding for finding in due if finding not in failed]
        if self._output.as_json:
            return
        self._output.text()
        for finding in due:
            if finding not in failed:
                self._output.pieces((f"mended {finding.code}", "green"))
        for failure in failures:
            self._output.pieces((f"could not mend {failure.finding.code}: ", "red"), (failure.error.message, ""))

    def _conclude(self, examinations: Sequence[Examination]) -> None:
        findings = all_findings(examinations)
        if self._output.as_json:
            self._output.json(
                {
                    "store": str(self._call.url),
                    "healthy": not findings,
                    "areas": [examination_document(examination) for examination in examinations],
                    "findings": [finding_document(finding) for finding in findings],
                    "mended": [finding_document(finding) for finding in self._mended],
                    "failed": [{"code": f.finding.code, **f.error.envelope()} for f in self._failed],
                }
            )
            return
        self._output.text()
        if not findings:
            left_out = any(not examination.is_done for examination in examinations)
            self._output.text(f"Healthy{', as far as was looked' if left_out else ''}.", "bold green")
            return
        can = sum(finding.remedy is not None for finding in findings)
        hint = f" `covey doctor --fix` can mend {can} of them." if can and not self._call.options.fix else ""
        self._output.text(f"{counted(len(findings), 'finding')}.{hint}", "bold")


def _actor(call: Call) -> Identity:
    """Return who lets things be mended."""
    try:
        return actor_or_user(call)
    except Unavailable:
        return THE_SPACE  # the records can't be opened, so that nothing is journalled anyway
