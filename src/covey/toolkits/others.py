"""The other agents: whom a model can write to by name."""

from covey.core.errors import Invalid, RecipientUnknown
from covey.core.names import AgentName
from covey.core.similar import closest
from covey.toolkits.tool import Caller
from covey.toolkits.wording import clipped


async def other_agent(caller: Caller, written: str, what: str) -> AgentName:
    """Return the agent that a model names. Oneself is Invalid; who is not known is RecipientUnknown with the closest
    names."""
    name = written.strip()
    if name == caller.identity.agent:
        raise Invalid(what, name, "that is you; name another agent")
    return await check_known(caller, name)


async def check_known(caller: Caller, name: str) -> AgentName:
    """Return an agent; who is not known is RecipientUnknown with the closest names."""
    known = await caller.services.directory.names()
    if name not in known:
        raise RecipientUnknown(
            clipped(name), closest(name, [other for other in known if other != caller.identity.agent])
        )
    return AgentName(name)
