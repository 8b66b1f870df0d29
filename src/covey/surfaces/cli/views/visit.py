"""One visit of the doctor: an examination, consent, repair, and a second examination."""

import sys
from collections.abc import Collection, Mapping, Sequence
from time import monotonic
from typing import Final

from covey.core.care.diagnoses import STORE_MISSING
from covey.core.care.finding import Area, Examination, Finding, Severity
from covey.core.errors import Unavailable
from covey.core.identity import THE_SPACE, Identity
from covey.core.json import Json
from covey.core.text.wording import counted
from covey.engines import connect_inline, engine_of
from covey.ports.checkup import Checkup, Tell
from covey.ports.space import Ports
from covey.services.care.doctor.doctor import Doctor, Failure, record_checkups
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, REFUSED, UNAVAILABLE
from covey.surfaces.cli.options.user import actor_or_user
from covey.surfaces.cli.terminal.letters import clipped, one_line, printable
from covey.surfaces.cli.terminal.output import Output


def can_ask(output: Output) -> bool:
    """Return True if a person can answer a question: both stdin and stdout are a terminal."""
    return output.is_for_a_person and sys.stdin is not None and sys.stdin.isatty()


def agreed(output: Output, question: str) -> bool:
    """Ask a person. Return True if the answer is yes; any other answer is no."""
    output.flush()
    sys.stderr.write(f"{printable(one_line(question))} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        output.note("")  # the end of the input left the line open
    return answer.strip().lower() in ("y", "yes")


MOST_ITEMS: Final = 8
"""Maximum number of a finding's items shown to a person. A program gets all of them."""

LONGEST: Final = 400
"""Maximum length of a shown item."""

STYLES: Final[Mapping[Severity, str]] = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.NOTICE: "bold cyan",
}


def show_examination(output: Output, examination: Examination) -> None:
    """Show the result of one area, on one line with its notes below."""
    margin = " " * 19
    area = f"{examination.area:<10}"
    if examination.findings:
        what = "; ".join(finding.what for finding in examination.findings)
        worst = min((finding.diagnosis.severity for finding in examination.findings), key=list(Severity).index)
        output.pieces((area, ""), (f"{worst:<9}", STYLES[worst]), (what, ""), margin=margin)
    elif examination.is_done:
        output.pieces((area, ""), (f"{'healthy':<9}", "green"), (examination.summary, "dim"), margin=margin)
    for note in examination.notes[:MOST_ITEMS]:
        output.pieces((f"{margin}{clipped(note, LONGEST)}", "yellow"), margin=margin)
    if len(examination.notes) > MOST_ITEMS:
        output.text(f"{margin}… and {len(examination.notes) - MOST_ITEMS} more: --json lists them all")


def show_left_out(output: Output, examinations: Sequence[Examination]) -> None:
    """Show the areas that were not examined, with the reasons."""
    left_out: dict[str, list[str]] = {}
    for examination in examinations:
        if not examination.is_done and not examination.findings:
            left_out.setdefault(examination.summary, []).append(examination.area)
    for why, areas in left_out.items():
        output.pieces((f"{', '.join(areas)}: {why}", "dim"), margin="  ")


def show_finding(output: Output, finding: Finding) -> None:
    """Show a finding: the problem, its meaning and the advice."""
    diagnosis = finding.diagnosis
    output.text()
    output.pieces(
        (f"{diagnosis.severity} ", STYLES[diagnosis.severity]),
        (diagnosis.code, "bold"),
        (f": {finding.what}", ""),
        margin="  ",
    )
    for item in finding.items[:MOST_ITEMS]:
        output.pieces((f"  {clipped(item, LONGEST)}", ""), margin="    ")
    if len(finding.items) > MOST_ITEMS:
        output.text(f"  … and {len(finding.items) - MOST_ITEMS} more: --json lists them all")
    output.pieces(("  It means: ", "dim"), (diagnosis.meaning, ""), margin="    ")
    output.pieces(("  What to do: ", "dim"), (diagnosis.advice, ""), margin="    ")
    if finding.remedy is not None:
        output.pieces(("  --fix ", "green"), (f"{finding.remedy}.", ""), margin="    ")
    elif finding.hindrance is not None:
        output.pieces(("  --fix can do nothing here: ", "dim"), (f"{finding.hindrance}.", ""), margin="    ")


def examination_document(examination: Examination) -> dict[str, Json]:
    """Return the result of one area."""
    return {
        "area": str(examination.area),
        "examined": examination.is_done,
        "summary": None if examination.findings else examination.summary,
        "findings": [finding.code for finding in examination.findings],
        "notes": list(examination.notes),
    }


def finding_document(finding: Finding) -> dict[str, Json]:
    """Return a finding."""
    diagnosis = finding.diagnosis
    return {
        "code": diagnosis.code,
        "area": str(diagnosis.area),
        "severity": str(diagnosis.severity),
        "what": finding.what,
        "items": list(finding.items),
        "meaning": diagnosis.meaning,
        "advice": diagnosis.advice,
        "remedy": finding.remedy,
        "hindrance": finding.hindrance,
    }


def all_findings(examinations: Sequence[Examination]) -> Sequence[Finding]:
    """Return the findings of all areas."""
    return [finding for examination in examinations for finding in examination.findings]


EVERY_SECONDS: Final = 0.2
"""Interval of progress reports during a long examination, in seconds."""


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
        """Return a function that shows a person the progress in one area."""
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
        """Show the present activity, or remove it."""
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
    """Return the identity that the repairs are journalled for."""
    try:
        return actor_or_user(call)
    except Unavailable:
        return THE_SPACE  # the records can't be opened, so nothing is journalled anyway
