"""list_peers: all other agents, and whether the caller may write to them."""

from typing import Final

from covey.core.directory.routing import allows
from covey.core.errors import NotFound
from covey.core.json import JsonObject
from covey.services.directory.directory import AgentView
from covey.toolkits.answers import as_json
from covey.toolkits.others import listed_agents
from covey.toolkits.tool import Answer, Arguments, Caller, Tool
from covey.toolkits.wording import said

NO_DIRECTORY: Final = "this agent has no PeerDirectory configured"


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    del arguments
    directory = caller.services.directory
    try:
        me = await directory.agent(caller.identity.agent)
    except NotFound:  # a claimed identity that is unknown here has no delegates
        return as_json({"peers": [], "note": NO_DIRECTORY})
    others = [view for view in await directory.agents() if view.name != me.name]
    return as_json(listed_agents(others, lambda view: _peer(view, me)).document("peers"))


def _peer(view: AgentView, me: AgentView) -> JsonObject:
    return {
        "agent_id": view.name,
        "description": said(view.card.description),
        "reachable": allows(me.card.allowed_delegates, view.name),
    }


LIST_PEERS: Final = Tool(
    name="list_peers",
    description=(
        "List the other agents: agent_id, description, and whether you may write to them (reachable). "
        "Use it BEFORE send_to_peer to find a valid `to`."
    ),
    parameters=(),
    run=_run,
    is_read_only=True,
)
