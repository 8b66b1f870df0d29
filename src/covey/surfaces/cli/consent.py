"""Consent: a person at a terminal is asked before something is done."""

import sys

from covey.surfaces.cli.letters import one_line, printable
from covey.surfaces.cli.output import Output


def can_ask(output: Output) -> bool:
    """Tell whether somebody is there to answer."""
    return output.is_for_a_person and sys.stdin is not None and sys.stdin.isatty()


def agreed(output: Output, question: str) -> bool:
    """Ask, and tell whether the answer is yes; anything else is no."""
    output.flush()
    sys.stderr.write(f"{printable(one_line(question))} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        output.note("")  # the end of the input left the line open
    return answer.strip().lower() in ("y", "yes")
