"""Covey: messaging and coordination for LLM agents.

    async with covey.open() as space:
        me = await space.join("coder")
        receipt = await me.send("critic", "The parser is done.")
        outcome = await me.ask("critic", "Shall I merge it?", timeout=30)

The names below are loaded when they are first used, so that a short-lived program pays only for what it needs.
"""

from importlib import import_module

from covey.version import __version__

_HOMES = {
    "Card": "covey.core.card",
    "CoveyError": "covey.core.errors",
    "Delivery": "covey.surfaces.python.inbox",
    "Inbox": "covey.surfaces.python.inbox",
    "Member": "covey.surfaces.python.member",
    "NotFound": "covey.core.errors",
    "Outcome": "covey.core.outcome",
    "OutcomeKind": "covey.core.outcome",
    "Receipt": "covey.surfaces.python.receipt",
    "Rejected": "covey.core.errors",
    "Space": "covey.surfaces.python.space",
    "Unavailable": "covey.core.errors",
    "Verdict": "covey.core.gate",
    "open": "covey.surfaces.python.space",
}

# The names come from __getattr__; __init__.pyi beside this file gives their types.
# pyright: reportUnsupportedDunderAll=false
__all__ = [
    "Card",
    "CoveyError",
    "Delivery",
    "Inbox",
    "Member",
    "NotFound",
    "Outcome",
    "OutcomeKind",
    "Receipt",
    "Rejected",
    "Space",
    "Unavailable",
    "Verdict",
    "__version__",
    "open",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'covey' has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value
