"""spawn: start a sibling, a child of the same parent, which works in parallel and can be written to by its name."""

from typing import Final

from covey.core.errors import Invalid, NoParent
from covey.services.children.request import SpawnRequest
from covey.toolkits.answers import refused
from covey.toolkits.arguments import given_text
from covey.toolkits.children import start_child
from covey.toolkits.tool import Answer, Arguments, Caller, Parameter, Tool
from covey.toolkits.wording import clipped, said

MAIN_SESSION: Final = (
    "spawn can only be called from subagent sessions, which have a parent. In a main session, start a task of your own "
    "with your own tool for that."
)


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    prompt, description = given_text(arguments, "prompt"), given_text(arguments, "description") or ""
    if prompt is None:
        raise Invalid("prompt", "", "say what the new agent is to do")
    wish = SpawnRequest(prompt, description=clipped(description), is_sibling=True, is_newcomer=True)
    try:
        run = await start_child(caller, wish)
    except NoParent as error:
        return refused(error, MAIN_SESSION)
    what = f" ({said(description)})" if description else ""
    return Answer(
        f"{run.agent}{what} works beside you now. Its result goes to {run.parent_agent}, who started you. To talk to "
        f'it: broadcast(send_to="{run.agent}", message=…).',
        {"agent": run.agent, "sessionKey": str(run.key), "runId": run.id, "parent": run.parent_agent},
    )


SPAWN: Final = Tool(
    name="spawn",
    description=(
        "Start a new agent that works beside you on something of its own. You don't wait; it sees your broadcasts, and "
        "you see its. Only for agents that were started by another one."
    ),
    parameters=(
        Parameter("prompt", "the task for the new agent: all that it needs to know", is_required=True),
        Parameter("description", "the task in three to five words"),
    ),
    run=_run,
)
