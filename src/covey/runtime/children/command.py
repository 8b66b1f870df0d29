"""The command on an agent's card: words with placeholders, no shell."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.errors import Invalid
from covey.runtime.programs.command import LONGEST_WORD

PLACEHOLDERS: Final = ("prompt", "task", "folder", "label", "agent", "run")
_PLACEHOLDER: Final = re.compile(r"\{(" + "|".join(PLACEHOLDERS) + r")\}")


def takes_prompt(words: Sequence[str]) -> bool:
    """Tell whether a command gets what it is told as an argument; otherwise it can be read on stdin."""
    return any("{prompt}" in word or "{task}" in word for word in words)


def filled(words: Sequence[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words with their values: each is one argument, whatever is in it."""
    if _PLACEHOLDER.search(words[0]):
        raise Invalid("command", words[0], "the program itself can't come from the task")
    found = tuple(_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in words)
    if max(len(os.fsencode(word)) for word in found) > LONGEST_WORD:
        rule = f"an argument has at most {LONGEST_WORD:,} bytes; a command without {{prompt}} and {{task}} reads stdin"
        raise Invalid("prompt", f"{len(values['prompt']):,} characters", rule)
    return found
