"""Findings of the doctor, for people and programs."""

from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.care.finding import Examination, Finding, Severity
from covey.core.json import Json
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.text import clipped

MOST_ITEMS: Final = 8
"""Maximum number of a finding's items shown to a person. A program gets all of them."""

LONGEST: Final = 400
"""Maximum length of a shown item."""

STYLES: Final[Mapping[Severity, str]] = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.NOTICE: "bold cyan",
    Severity.REMARK: "bold blue",
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
    for remark in examination.remarks:
        output.pieces((f"{margin}{remark.what}", "blue"), margin=margin)
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
        "remarks": [remark.code for remark in examination.remarks],
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


def all_remarks(examinations: Sequence[Examination]) -> Sequence[Finding]:
    """Return the remarks of all areas: findings that are no faults."""
    return [remark for examination in examinations for remark in examination.remarks]


def all_findings(examinations: Sequence[Examination]) -> Sequence[Finding]:
    """Return the findings of all areas."""
    return [finding for examination in examinations for finding in examination.findings]
