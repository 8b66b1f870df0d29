"""list_agents: who is there, what each is for and doing, and what the caller says of itself."""

from collections.abc import Sequence
from typing import Final

from covey.core.card import Presence
from covey.core.json import JsonObject
from covey.services.directory import AgentView
from covey.toolkits.tool import Answer, Arguments, Caller, Parameter, Tool
from covey.toolkits.wording import clipped, listed, said

MANY: Final = 50
"""So many agents are described; the others are counted."""

STATUS_CHARS: Final = 200


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    directory = caller.services.directory
    status = arguments.get("status")
    if status is not None:
        await directory.set_status(caller.identity, clipped(str(status), STATUS_CHARS))
    others = [view for view in await directory.agents() if view.name != caller.identity.agent]
    here = [view for view in others if view.sessions]
    away = [view for view in others if not view.sessions]
    return Answer(
        "\n".join(_lines(caller.identity.agent, here, away)),
        {
            "you": caller.identity.agent,
            "agents": [_entry(view) for view in (here + away)[:MANY]],
            "more": max(0, len(others) - MANY),
        },
    )


def _lines(me: str, here: Sequence[AgentView], away: Sequence[AgentView]) -> Sequence[str]:
    lines = [f"You are {me}."]
    if here:
        lines.append("Here now:")
        lines += [_line(view) for view in here[:MANY]]
        if len(here) > MANY:
            lines.append(f"- and {len(here) - MANY} more")
    else:
        lines.append("No other agent is here now.")
    if away:
        names = [f"{view.name}{_paused(view)}" for view in away]
        lines.append(f"Offline (mail waits for them): {listed(names)}")
    return lines


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
        "capabilities": [said(capability) for capability in view.card.capabilities],
        "status": None if view.status is None else said(view.status),
    }


LIST_AGENTS: Final = Tool(
    name="list_agents",
    description="See your own name and the other agents: what each is for, what it is doing, who is offline.",
    parameters=(Parameter("status", "say in one line what you are doing; the others see it"),),
    run=_run,
)
