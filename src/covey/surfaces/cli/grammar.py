"""The grammar: what each verb takes, read off its parser, for completion and for the reference."""

from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Sequence
from typing import NamedTuple


class Argument(NamedTuple):
    """One thing that a verb takes."""

    flags: tuple[str, ...]
    """Empty where it is known by its place."""
    metavar: str
    """What its value is called; empty where it takes none."""
    choices: tuple[str, ...]
    help: str
    is_required: bool
    is_repeatable: bool
    is_common: bool
    """Every verb takes it."""

    @property
    def takes_value(self) -> bool:
        return bool(self.metavar)


COMMON = ("--store", "--agent", "--json")


def arguments_of(parser: ArgumentParser) -> Sequence[Argument]:
    """Return the arguments of a verb's parser, in its own order; those that every verb takes come last."""
    actions = parser._actions  # pyright: ignore[reportPrivateUsage]  # argparse has no public way to ask
    found = [_argument(action, parser) for action in actions if action.help != SUPPRESS and action.dest != "help"]
    return sorted(found, key=lambda argument: argument.is_common)


def _argument(action: Action, parser: ArgumentParser) -> Argument:
    flags = tuple(action.option_strings)
    takes_value = action.nargs != 0
    choices = tuple(map(str, action.choices or ()))
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return Argument(
        flags=flags,
        metavar=("|".join(choices) if choices and action.metavar is None else metavar) if takes_value else "",
        choices=choices,
        help=(action.help or "") % {"prog": parser.prog},
        is_required=action.required,
        is_repeatable=action.nargs == "+" or type(action).__name__ == "_AppendAction",
        is_common=bool(flags) and flags[-1] in COMMON,
    )
