"""Abilities of Claude models: the rules that differ from model to model.

For an unknown name, no rule applies that holds only for some models.
"""

import re
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(-(?P<minor>\d{1,2}))?(-\d{8})?")
_FRONTIER: Final = ("fable", "mythos")


class Abilities(NamedTuple):
    """The abilities of one model."""

    thinking: frozenset[str] = frozenset({"adaptive", "between_tools", "disabled", "enabled"})
    """The values of `thinking.type` that the model accepts."""
    thinks_unasked: bool = False
    """True if the model thinks when a request does not set `thinking`."""
    omits_thoughts: bool = False
    """True if the model leaves out the text of thoughts unless a request asks for the text."""
    must_be_calm_to_be_quiet: bool = False
    """True if the model refuses to turn thinking off at an effort above high."""
    continues_prefill: bool = True
    takes_system_turns: bool = True
    takes_forced_tools: bool = True
    takes_sampling: bool = True
    binds_thoughts: bool = False
    """True if a thought of the model is valid only after the exact conversation that it came from."""


def abilities(model: str) -> Abilities:
    """Return the abilities of the model with that name."""
    if model == "claude-mythos-preview":
        thinking = frozenset({"adaptive", "enabled"})
        return Abilities(thinking, True, continues_prefill=False, takes_system_turns=False)
    name = _NAME.fullmatch(model)
    if name is None:
        return Abilities()
    return _of(name["family"], (int(name["major"]), int(name["minor"] or 0)))


def _of(family: str, version: tuple[int, int]) -> Abilities:
    is_frontier = family in _FRONTIER
    return Abilities(
        thinking=frozenset(_thinking(family, version)),
        thinks_unasked=version >= (5, 0),
        omits_thoughts=version >= (4, 7),
        must_be_calm_to_be_quiet=(version >= (5, 0) and family != "sonnet") or version >= (5, 5),
        continues_prefill=version < (4, 6),
        takes_system_turns=is_frontier or version >= {"opus": (4, 8), "sonnet": (5, 5)}.get(family, (99, 0)),
        takes_forced_tools=family == "haiku" or version < ((5, 1) if is_frontier else (5, 5)),
        takes_sampling=version < (4, 7),
        binds_thoughts=family != "mythos" and version >= ((5, 1) if is_frontier else (5, 5)),
    )


def _thinking(family: str, version: tuple[int, int]) -> set[str]:
    kinds: set[str] = set()
    if version <= (4, 6):
        kinds.add("enabled")
    if version >= (4, 6):
        kinds.add("adaptive")
    if family == "sonnet" and version >= (5, 5):
        kinds.add("between_tools")
    elif family not in _FRONTIER and (family != "opus" or version < (5, 5)):
        kinds.add("disabled")
    return kinds
