"""Write the reference of a doctor's findings from the diagnoses: `python tools/findings_page.py`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from covey.core.care.diagnoses import DIAGNOSES
from covey.core.care.finding import Area, Diagnosis

PAGE: Final = Path(__file__).parent.parent / "docs" / "reference" / "findings.md"

HEAD: Final = """\
# What the doctor finds

This page is made from the code by `python tools/findings_page.py`; a test compares them. [How to look after a
space](../how-to/doctor.md) has the everyday use.

Codes are stable: programs may depend on them. An **error** means that something does not work, or that accepted
messages are in danger. A **warning** stays until a person acts, but nothing is lost. A **notice** is repaired by the
next program that is active in the space; until then nothing depends on it. A **remark** is no fault: the space is
healthy, but a person may want to act. If the last column is empty, `covey doctor --fix` can do nothing.
"""


def page() -> str:
    """Return the page."""
    return "".join([HEAD, *(line for area in Area for line in _section(area))])


def _section(area: Area) -> Iterator[str]:
    yield f"\n## {str(area).capitalize()}\n\n"
    yield "| code | severity | meaning | what to do | `--fix` |\n|---|---|---|---|---|\n"
    for diagnosis in DIAGNOSES:
        if diagnosis.area is area:
            yield _row(diagnosis)


def _row(diagnosis: Diagnosis) -> str:
    cells = (f"`{diagnosis.code}`", diagnosis.severity, diagnosis.meaning, diagnosis.advice, diagnosis.remedy or "")
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
