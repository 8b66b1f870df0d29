"""What Claude models take and refuse, as far as it differs from model to model.

A name that is not known is bound by nothing that only some models refuse.
"""

import re
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(-(?P<minor>\d{1,2}))?(-\d{8})?")
_FRONTIER: Final = ("fable", "mythos")


class Abilities(NamedTuple):
    """What a model can do."""

    thinking: frozenset[str] = frozenset({"adaptive", "between_tools", "disabled", "enabled"})
    """The values of `thinking.type` that it takes."""
    thinks_unasked: bool = False
    """Whether it thinks where a request does not speak of thinking."""
    omits_thoughts: bool = False
    """Whether it leaves the text of thoughts out unless a request asks for it."""
    must_be_calm_to_be_quiet: bool = False
    """Whether it refuses to turn thinking off at an effort above high."""
    continues_prefill: bool = True
    takes_system_turns: bool = True
    takes_forced_tools: bool = True
    takes_sampling: bool = True
    binds_thoughts: bool = False
    """Whether its thoughts are good only after the very conversation that they came from."""


def abilities(model: str) -> Abilities:
    """Return what the model of that name can do."""
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
