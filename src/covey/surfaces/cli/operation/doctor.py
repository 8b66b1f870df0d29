"""The verb `doctor`: an examination, consent, repair, and a second examination; or the salvage of a store."""

import sys
from argparse import ArgumentParser
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Final

from covey.core.care.diagnoses import DIAGNOSES, STORE_MISSING
from covey.core.care.finding import Area, Examination, Finding
from covey.core.errors import Invalid, Unavailable
from covey.core.identity import THE_SPACE, Identity
from covey.core.reporting import closest, counted
from covey.engines import connect_inline, engine_of
from covey.ports.care import Checkup, ProgressCallback
from covey.ports.space import Ports
from covey.services.care.doctor.doctor import Doctor, RepairFailure, record_checkups
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.credentials import check_whole
from covey.surfaces.cli.exits import DONE, REFUSED, UNAVAILABLE
from covey.surfaces.cli.operation.findings import (
    all_findings,
    all_remarks,
    examination_document,
    finding_document,
    show_examination,
    show_finding,
    show_left_out,
)
from covey.surfaces.cli.options.names import actor_or_user
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.progress import ProgressBar
from covey.surfaces.cli.terminal.text import one_line, printable


def _doctor_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="skip the slow checks: indexes, and the whole journal")
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument("--fix", action="store_true", help="repair the faults that have a remedy, after showing them")
    doing.add_argument("--salvage", metavar="FILE", help="copy the readable records of a damaged store into a new one")
    parser.add_argument("--yes", action="store_true", help="with --fix: do not ask")
    parser.add_argument(
        "--only", metavar="CODE", action="append", help="with --fix: repair only findings of this code; repeatable"
    )


def _run_doctor(call: Call) -> int:
    options = call.options
    with suppress(Unavailable):  # a store that can't be read can't check tokens, and the doctor must still examine it
        check_whole(call.holder, "examine the space")
    codes = _codes(options.only)
    if (options.yes or options.only) and not options.fix:
        raise Invalid("--yes" if options.yes else "--only", None, "it goes with --fix")
    if options.salvage is not None:
        return salvage(call, options.salvage)
    visit = DoctorVisit(call, codes)
    try:
        return visit.run()
    finally:
        visit.close()


DOCTOR: Final = Verb(
    arguments=_doctor_arguments,
    run=_run_doctor,
    description="""\
Check a space for faults. Each finding has its meaning and advice. The check
changes nothing. With --fix, faults that have a remedy are repaired: the
remedies are shown first, and a person at a terminal is asked.

A remark is no fault: the space is healthy, but a person may want to act.

Exit codes: 0 if the space is healthy, or all faults are repaired; 1 if faults are left.""",
    examples="""\
examples:
  covey doctor                 check everything; a large space takes a while
  covey doctor --quick         skip the slow checks
  covey doctor --fix           show the remedies, ask, repair
  covey doctor --fix --yes --only wrong-permissions --json
  covey doctor --salvage .covey/saved.db""",
)


def salvage(call: Call, target: str) -> int:
    """Copy the readable records of the space into a new store, and show the counts."""
    with ProgressBar(call.output, "salvaging") as progress:
        saved = engine_of(call.url).care.salvage(call.url, target, partial(progress.at, "salvaging"))
    if call.output.as_json:
        tables = {name: {"saved": table.saved, "unreadable": table.unreadable} for name, table in saved.items()}
        call.output.json({"store": str(call.url), "file": target, "tables": tables})
        return DONE
    call.output.table(
        ("records", "saved", "unreadable"),
        [(name, f"{table.saved:,}", f"{table.unreadable:,}") for name, table in saved.items()],
        "",
    )
    call.output.text(f"Next: covey doctor --store sqlite:{target}")
    return DONE


def can_ask(output: Output) -> bool:
    """Return True if a person can answer a question: both stdin and stdout are a terminal."""
    return output.is_for_a_person and sys.stdin is not None and sys.stdin.isatty()


def agreed(output: Output, question: str) -> bool:
    """Ask a person. Return True if the answer is yes; any other answer is no."""
    from covey.surfaces.cli.terminal.keyboard import typed_line  # imported late because most calls ask nothing

    output.flush()
    sys.stderr.write(f"{printable(one_line(question))} [y/N] ")
    sys.stderr.flush()
    answer = typed_line()
    if not answer:
        output.note("")  # the end of the input left the line open
    return answer.strip().lower() in ("y", "yes")


EVERY_SECONDS: Final = 0.2
"""Interval of progress reports during a long examination, in seconds."""


class DoctorVisit:
    """One call of the doctor."""

    def __init__(self, call: Call, codes: Collection[str]) -> None:
        self._call = call
        self._output = call.output
        self._codes = codes
        self._ports: Ports | None = None
        self._doctor = Doctor(engine_of(call.url).care.checkups_beneath(call.url), self._open)
        self._is_telling = False
        self._mended: list[Finding] = []
        self._failed: list[RepairFailure] = []

    def run(self) -> int:
        examinations = self._examine(shown=not self._output.as_json)
        findings = all_findings(examinations)
        if not self._output.as_json:
            for finding in (*findings, *all_remarks(examinations)):
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

    def _teller(self, area: Area) -> ProgressCallback:
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
            self._output.note("covey: nothing was repaired, because there is no terminal to ask at. Use --yes.")
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
                    "remarks": [finding_document(remark) for remark in all_remarks(examinations)],
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


def _codes(given: Sequence[str] | None) -> Collection[str]:
    """Return the codes of the findings that may be mended."""
    known = [diagnosis.code for diagnosis in DIAGNOSES]
    for code in given or ():
        if code not in known:
            near = closest(code, known)
            raise Invalid("code", code, f"did you mean {' or '.join(near)}?" if near else "docs list the codes")
    return given or known
