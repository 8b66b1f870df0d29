"""Agents as a model names them: resolved names, lists with a limit, and new children."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from covey.core.directory.session import Session
from covey.core.errors import Invalid, RecipientUnknown, SessionUnknown
from covey.core.identity import EVERYONE, Address, AddressKind, parse_session_key
from covey.core.json import JsonObject, to_json
from covey.core.names import AgentName, parse_label
from covey.core.reporting import closest
from covey.core.work.run import Run
from covey.services.children.request import SpawnRequest
from covey.services.directory.directory import AgentView
from covey.toolkits.answers import clipped
from covey.toolkits.tool import Caller

MANY_AGENTS: Final = 50
LIST_CHARS: Final = 12_000
"""The limits of a list for a model: agents, and characters of JSON. The others are counted."""


class AgentList(NamedTuple):
    """The entries of a list of agents, and the number of agents that it leaves out."""

    entries: Sequence[JsonObject]
    more: int

    def document(self, name: str) -> JsonObject:
        """Return the list under a name, with a note if agents are left out."""
        if not self.more:
            return {name: self.entries}
        note = f"{self.more:,} more agents are not listed; each is reached by its exact name"
        return {name: self.entries, "note": note}


def listed_agents(views: Iterable[AgentView], describe: Callable[[AgentView], JsonObject]) -> AgentList:
    """Return the agents that a list shows: live ones first, each group in its order."""
    ordered = sorted(views, key=lambda view: not view.sessions)
    entries: list[JsonObject] = []
    room = LIST_CHARS
    for view in ordered[:MANY_AGENTS]:
        entry = describe(view)
        room -= len(to_json(entry))
        if room < 0 and entries:
            break
        entries.append(entry)
    return AgentList(entries, len(ordered) - len(entries))


async def other_agent(caller: Caller, written: str, what: str) -> AgentName:
    """Return the agent that a model names. Raise Invalid for the caller itself, RecipientUnknown with the closest names
    for an unknown one."""
    name = written.strip()
    if name == caller.identity.agent:
        raise Invalid(what, name, "that is you; name another agent")
    return await check_known(caller, name)


async def other_party(caller: Caller, written: str, what: str) -> Address:
    """Resolve a name that a model was shown: another agent, or a child by its label or session key. A child writes to
    its parent's agent by name, even if that is its own agent."""
    name = written.strip()
    directory = caller.services.directory
    if name == caller.identity.agent:
        live = (await directory.agent(caller.identity.agent)).sessions
        if not any(session.key.is_main for session in live) or _is_main(live, caller):
            raise Invalid(what, name, "that is you; name another agent")
        return Address(AddressKind.AGENT, name)
    if name in await directory.names():
        return Address(AddressKind.AGENT, name)
    try:
        session = await (
            directory.keyed(parse_session_key(name)) if ":" in name else directory.labelled(parse_label(name))
        )
    except (Invalid, SessionUnknown, RecipientUnknown):
        return Address(AddressKind.AGENT, await check_known(caller, name))
    if session.id == caller.identity.session:
        raise Invalid(what, name, "that is you; name another agent")
    return Address(AddressKind.SESSION, session.id)


def _is_main(live: Sequence[Session], caller: Caller) -> bool:
    """Tell whether the caller speaks for its agent: from a main session, or from none."""
    own = next((session for session in live if session.id == caller.identity.session), None)
    return own is None or own.key.is_main


async def check_known(caller: Caller, name: str) -> AgentName:
    """Return an agent by name. Raise RecipientUnknown with the closest names for an unknown one."""
    known = await caller.services.directory.names()
    if name not in known:
        raise RecipientUnknown(
            clipped(name), closest(name, [other for other in known if other != caller.identity.agent])
        )
    return AgentName(name)


async def start_child(caller: Caller, wish: SpawnRequest) -> Run:
    """Start a child and return at once."""
    led_by = await caller.services.recently_shown.leading(caller.identity.session, (EVERYONE,))
    return await caller.services.spawning.spawn(wish._replace(cwd=str(Path.cwd()), led_by=led_by), caller.identity)


async def child_agent(caller: Caller, written: str | None) -> AgentName | None:
    """Return the agent of the new child: the one that a model names, itself included; None if it names none."""
    return None if written is None else await check_known(caller, written.strip())
