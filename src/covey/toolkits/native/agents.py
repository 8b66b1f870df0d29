"""list_agents and spawn_agent: the other agents with their purpose and status, and the start of a new one."""

from collections.abc import Sequence
from typing import Final

from covey.core.attention.pending import OtherAgent
from covey.core.attention.styles import status_of
from covey.core.directory.card import Presence
from covey.core.errors import Invalid
from covey.core.json import JsonObject
from covey.core.names import parse_label
from covey.services.children.request import SpawnRequest
from covey.services.directory.directory import AgentView
from covey.toolkits.agents import MANY_AGENTS, child_agent, listed_agents, start_child
from covey.toolkits.answers import MANY_NAMES, clipped, listed, said
from covey.toolkits.arguments import given_text, given_texts
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer

STATUS_CHARS: Final = 200


async def _list(caller: Caller, arguments: Arguments) -> ToolAnswer:
    directory = caller.services.directory
    status = arguments.get("status")
    if status is not None:
        await directory.set_status(caller.identity, clipped(str(status), STATUS_CHARS))
    others = [view for view in await directory.agents() if view.name != caller.identity.agent]
    described = listed_agents(others, _entry)
    here = [view for view in others if view.sessions]
    away = [view for view in others if not view.sessions]
    names = {view.name for view in others}
    kin = [other for other in await caller.services.attention.company(caller.identity) if other.name not in names]
    return ToolAnswer(
        "\n".join([*_lines(caller.identity.agent, here, away), *_family(kin)]),
        {
            "you": caller.identity.agent,
            "agents": described.entries,
            "more": described.more,
            "family": [{"name": other.name, "status": status_of(other)} for other in kin],
        },
    )


def _lines(me: str, here: Sequence[AgentView], away: Sequence[AgentView]) -> Sequence[str]:
    lines = [f"You are {me}."]
    if here:
        lines.append("Here now:")
        lines += [_line(view) for view in here[:MANY_AGENTS]]
        if len(here) > MANY_AGENTS:
            lines.append(f"- and {len(here) - MANY_AGENTS} more")
    else:
        lines.append("No other agent is here now.")
    if away:
        names = [f"{view.name}{_paused(view)}" for view in away]
        lines.append(f"Offline (mail waits for them): {listed(names)}")
    return lines


def _family(kin: Sequence[OtherAgent]) -> Sequence[str]:
    """Return lines about the children of one parent, and about the parent if it belongs to the same agent."""
    return ["Your family, reached by these names:", *(f"- {o.name}: {status_of(o)}" for o in kin)] if kin else ()


def _paused(view: AgentView) -> str:
    return " (paused)" if view.pause else ""


def _line(view: AgentView) -> str:
    busy = _paused(view) or (" (busy)" if view.presence is Presence.BUSY else "")
    about = [said(text) for text in (view.card.description, ", ".join(view.card.capabilities)) if text]
    doing = [f"now: {said(view.status)}"] if view.status else []
    return f"- {view.name}{busy}" + (": " + "; ".join(about + doing) if about or doing else "")


def _entry(view: AgentView) -> JsonObject:
    return {
        "name": view.name,
        "presence": "paused" if view.pause else str(view.presence),
        "description": said(view.card.description),
        "capabilities": [said(capability) for capability in view.card.capabilities[:MANY_NAMES]],
        "status": None if view.status is None else said(view.status),
    }


LIST_AGENTS: Final = Tool(
    name="list_agents",
    description="See your own name and the other agents: what each is for, what it is doing, who is offline.",
    parameters=(Parameter("status", "say in one line what you are doing; the others see it"),),
    run=_list,
)


async def _spawn(caller: Caller, arguments: Arguments) -> ToolAnswer:
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
    return ToolAnswer(told, data)


SPAWN_AGENT: Final = Tool(
    name="spawn_agent",
    description=(
        "Start a new agent for one piece of work. You don't wait: its result comes to your inbox, and it ends. To "
        "give work to an agent that exists already, use delegate_task."
    ),
    parameters=(
        Parameter("task", "all that it needs to know to do it", is_required=True),
        Parameter("agent", "name of the agent to start; left out, one like you"),
        Parameter("files", "paths of files to give it", ParameterType.TEXTS),
        Parameter("minutes", "how long it may take", ParameterType.NUMBER),
        Parameter("label", "a name of your choice for it"),
    ),
    run=_spawn,
)
