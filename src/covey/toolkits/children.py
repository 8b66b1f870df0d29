"""Children of a model: started in the directory of its own program, as caused by the mail that it was shown."""

from pathlib import Path

from covey.core.address import EVERYONE
from covey.core.names import AgentName
from covey.core.work.run import Run
from covey.services.children.request import SpawnRequest
from covey.toolkits.others import check_known
from covey.toolkits.tool import Caller


async def start_child(caller: Caller, wish: SpawnRequest) -> Run:
    """Start a child and return at once."""
    led_by = await caller.services.lately.leading(caller.identity.session, (EVERYONE,))
    return await caller.services.spawning.spawn(wish._replace(cwd=str(Path.cwd()), led_by=led_by), caller.identity)


async def child_agent(caller: Caller, written: str | None) -> AgentName | None:
    """Return the agent of the new child: the one that a model names, itself included; None if it names none."""
    return None if written is None else await check_known(caller, written.strip())
