"""Counts, as options of a verb."""

from argparse import ArgumentTypeError


def positive(text: str) -> int:
    """Return a whole number of 1 or more."""
    if not text.isascii() or not text.isdigit() or not 0 < len(text) < 10 or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)
