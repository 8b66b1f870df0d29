"""spawn_agent: start an agent for a piece of work. Its result comes to the inbox."""

from typing import Final

from covey.core.errors import Invalid
from covey.core.names import parse_label
from covey.services.children.request import SpawnRequest
from covey.toolkits.arguments import given_text, given_texts
from covey.toolkits.children import child_agent, start_child
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    task, label = given_text(arguments, "task"), given_text(arguments, "label")
    if task is None:
        raise Invalid("task", "", "say what is to be done")
    minutes = arguments.get("minutes")
    wish = SpawnRequest(
        task,
        await child_agent(caller, given_text(arguments, "agent")),
        time_limit=minutes * 60 if isinstance(minutes, int | float) else None,
        attachments=tuple(given_texts(arguments, "files")),
        label=None if label is None else parse_label(label.strip()),
    )
    run = await start_child(caller, wish)
    name = f"{run.label}, {run.key}" if run.label else str(run.key)
    told = f"A new {run.agent} works on it ({name}, run {run.id}). Its result comes to your inbox by itself."
    data = {
        "session": str(run.key),
        "run": run.id,
        "label": run.label,
        "status": str(run.state),
        "agent": run.agent,
        "ticket": run.ticket,
    }
    return Answer(told, data)


SPAWN_AGENT: Final = Tool(
    name="spawn_agent",
    description=(
        "Start a new agent for one piece of work. You don't wait: its result comes to your inbox, and it ends. To "
        "give work to an agent that exists already, use delegate_task."
    ),
    parameters=(
        Parameter("task", "all that it needs to know to do it", is_required=True),
        Parameter("agent", "name of the agent to start; left out, one like you"),
        Parameter("files", "paths of files to give it", Form.TEXTS),
        Parameter("minutes", "how long it may take", Form.NUMBER),
        Parameter("label", "a name of your choice for it"),
    ),
    run=_run,
)
