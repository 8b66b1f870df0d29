"""list_agents: the registry of mailboxes."""

from typing import Final

from covey.core.formats.registry import entry_of
from covey.core.json import JsonObject
from covey.services.directory.directory import AgentView
from covey.toolkits.answers import as_json
from covey.toolkits.others import listed_agents
from covey.toolkits.tool import Answer, Arguments, Caller, Tool
from covey.toolkits.wording import MANY_NAMES, said


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    del arguments
    return as_json(listed_agents(await caller.services.directory.agents(), registry_entry).document("agents"))


def registry_entry(view: AgentView) -> JsonObject:
    """Return an agent's registry entry: its configuration, and its present state."""
    seen_at = view.last_seen_at
    registered_at = view.registered_at
    entry = entry_of(view.name, view.card, view.presence, view.current_tasks, registered_at, seen_at or registered_at)
    return {
        **entry,
        "description": said(view.card.description),
        "capabilities": [said(capability) for capability in view.card.capabilities[:MANY_NAMES]],
        "allow_from": list(view.card.allow_from[:MANY_NAMES]),
        "last_heartbeat": entry["last_heartbeat"] if seen_at else None,
    }


LIST_AGENTS: Final = Tool(
    name="list_agents",
    description=(
        "List the agents, you included: what each can do (description, capabilities), whether it is idle, busy or "
        "offline, who may write to it (allow_from, * for anyone), and how many tasks it takes and has."
    ),
    parameters=(),
    run=_run,
    is_read_only=True,
)
