"""The catalogue of toolkits: lookup by name, and merging. Reading it imports none of them."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Final, cast

from covey.core.errors import Invalid
from covey.core.ledger.offer import Presentation
from covey.core.reporting import closest
from covey.toolkits.tool import Tool, Toolkit

DEFAULT: Final = "native"

HOMES: Final[Mapping[str, str]] = {
    "native": "covey.toolkits.native",
    "peers": "covey.toolkits.peers",
    "dialogue": "covey.toolkits.dialogue",
    "broadcast": "covey.toolkits.broadcast",
    "mailbox": "covey.toolkits.mailbox",
    "sessions": "covey.toolkits.sessions",
    "coordinator": "covey.toolkits.coordinator",
    "worker": "covey.toolkits.worker",
}
"""The package of each toolkit; its TOOLKIT is the toolkit."""


def toolkit(names: str | Sequence[str] = DEFAULT) -> Toolkit:
    """Return a toolkit by name, or several as one: `peers,broadcast`. Raise Invalid for an unknown name, or for two
    tools of the same name."""
    given = names.split(",") if isinstance(names, str) else names
    wanted = list(dict.fromkeys(name.strip() for name in given if name.strip()))
    if not wanted:
        raise Invalid("toolkit", "", f"use {', '.join(HOMES)}")
    return merged([_load(name) for name in wanted])


def merged(toolkits: Sequence[Toolkit]) -> Toolkit:
    """Merge several toolkits into one. If any of them shows mail until it is handled, the merged one does. An inbox is
    limited only if all agree on the limit. The first toolkit says how to read more and how to answer; the first one
    with a way to handle tasks, or workers, says how to do that."""
    first, *others = toolkits
    if not others:
        return first
    _check_names(toolkits)
    keeps = any(kit.presentation is Presentation.UNTIL_HANDLED for kit in toolkits)
    return Toolkit(
        name=",".join(kit.name for kit in toolkits),
        about="; ".join(kit.about for kit in toolkits),
        instructions="\n".join(kit.instructions for kit in toolkits),
        tools=tuple(_tools(toolkits, keeps=keeps)),
        presentation=Presentation.UNTIL_HANDLED if keeps else Presentation.ONCE,
        capacity=first.capacity if len({kit.capacity for kit in toolkits}) == 1 else None,
        ways=first.ways._replace(
            task=next((kit.ways.task for kit in toolkits if kit.ways.task), ""),
            worker=next((kit.ways.worker for kit in toolkits if kit.ways.worker), ""),
        ),
    )


def _tools(toolkits: Sequence[Toolkit], *, keeps: bool) -> Iterator[Tool]:
    """Iterate over the tools of several toolkits. A shared tool is listed once, in the version of a toolkit with the
    merged presentation."""
    wanted = Presentation.UNTIL_HANDLED if keeps else Presentation.ONCE
    shared = {tool.name: tool for kit in toolkits if kit.presentation is wanted for tool in kit.tools}
    seen: set[str] = set()
    for kit in toolkits:
        for tool in kit.tools:
            if tool.name not in seen:
                yield shared[tool.name] if tool.is_shared else tool
            seen.add(tool.name)


def tool_named(kit: Toolkit, name: object) -> Tool:
    """Return one tool of a toolkit. Raise Invalid for an unknown name, with the closest names."""
    known = {tool.name: tool for tool in kit.tools}
    if not isinstance(name, str) or name not in known:
        near = closest(str(name), known)
        raise Invalid("tool", name, f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}")
    return known[name]


def _load(name: str) -> Toolkit:
    home = HOMES.get(name)
    if home is None:
        near = closest(name, HOMES)
        raise Invalid("toolkit", name, f"did you mean {' or '.join(near)}?" if near else f"use {', '.join(HOMES)}")
    return cast(Toolkit, import_module(home).TOOLKIT)


def _check_names(toolkits: Sequence[Toolkit]) -> None:
    homes: dict[str, str] = {}
    for kit in toolkits:
        for tool in kit.tools:
            if tool.name in homes and not tool.is_shared:
                both = f"{homes[tool.name]} and {kit.name}"
                raise Invalid("toolkits", ",".join(k.name for k in toolkits), f"{both} both have {tool.name}: use one")
            homes[tool.name] = kit.name
