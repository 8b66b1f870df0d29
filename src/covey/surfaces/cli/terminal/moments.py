"""Moments: one line for each event that a person watches."""

from datetime import datetime
from typing import Final

from covey.surfaces.cli.terminal.letters import clipped, one_line
from covey.surfaces.cli.terminal.output import Output

WORD_WIDTH: Final = 10
LONGEST: Final = 200
"""Maximum length of a shown text. Other verbs show the whole."""


def moment(at: datetime, word: str, text: str) -> str:
    """Return the line of an event: its local time, its word and its text."""
    return _head(at) + f"{word:<{WORD_WIDTH}}  {one_line(text)}".rstrip()


def show_moment(output: Output, at: datetime, word: str, text: str) -> None:
    """Write the line as a result. A person at a terminal gets colour and wrapped lines."""
    if not output.is_for_a_person:
        output.text(moment(at, word, text))
        return
    from covey.surfaces.cli.terminal.screen import STYLES

    lead, middle = _head(at), f"{word:<{WORD_WIDTH}}  "
    pieces = (middle, STYLES.get(word, "")), (clipped(one_line(text), LONGEST), "")
    output.pieces(*pieces, lead=lead, margin=" " * len(lead + middle))


def _head(at: datetime) -> str:
    return f"{at.astimezone():%H:%M:%S}  "
