"""The verbs `agents`, `pause` and `resume`: the agents of a space, and their pauses."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from covey.core.directory.card import encode_card
from covey.core.directory.routing import WHOLE, Pause
from covey.core.errors import BeyondToken
from covey.core.json import Json
from covey.core.names import parse_agent_name
from covey.core.reporting import counted
from covey.core.times import format_instant
from covey.services.directory.directory import AgentView
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.names import actor_or_user


def _agents_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="only this agent, with its sessions")
    parser.add_argument("--live", action="store_true", help="only those with a live session")
    parser.add_argument("--names", action="store_true", help="only the names, one a line; never makes a store")


def _run_agents(call: Call) -> int:
    options = call.options
    if options.names:
        return _names(call)
    directory = call.services.directory
    if options.name is not None:
        views: Sequence[AgentView] = (call.run(directory.agent(call.agent(options.name))),)
    else:
        views = sorted(call.run(directory.agents()), key=_is_offline)
    shown = [view for view in views if view.sessions or not options.live]
    if call.output.as_json:
        call.output.json([agent_document(view) for view in shown])
        return DONE
    call.output.table(
        ("agent", "presence", "sessions", "tasks", "about"),
        [(view.name, presence(view), str(len(view.sessions)), _tasks(view), _about(view)) for view in shown],
        "Nobody is here." if options.live else "Nobody is known here. `covey join NAME` begins.",
    )
    if options.name is not None and shown[0].sessions:
        call.output.text()
        _show_sessions(call, shown[0])
    for line in _held_up(call):
        call.output.note(line)
    return DONE


AGENTS: Final = Verb(
    arguments=_agents_arguments,
    run=_run_agents,
    description="""\
List the agents of the space, those with a live session first: who is idle, busy or offline, and how many tasks each
works on and may work on. Who is offline can be written to; its mail waits. With a name: that agent alone, with its
sessions and their keys.""",
    examples="""\
examples:
  covey agents
  covey agents --live
  covey agents coder""",
)


def _pause_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="whom; by default the whole space")
    parser.add_argument("--reason", metavar="TEXT", default="", help="why: who is refused is told it")


def _run_pause(call: Call) -> int:
    options = call.options
    name = parse_agent_name(options.name) if options.name is not None else None
    pause = call.run(call.services.pauses.pause(name, actor_or_user(call), options.reason))
    if call.output.as_json:
        call.output.json({"agent": name, "paused": pause_document(pause)})
        return DONE
    call.output.text(f"{name or 'The space'} is paused. Mail is kept meanwhile.")
    call.output.note(f"`covey resume{f' {name}' if name else ''}` lets it go on.")
    return DONE


PAUSE: Final = Verb(
    arguments=_pause_arguments,
    run=_run_pause,
    description="""\
Pause an agent, or without a name the whole space: mail for it is accepted and waits, but it is shown nothing, takes no
task, spawns nobody and can't send. What it has in hand it may finish. The operator can still write to everyone. It
takes the operator's token, in COVEY_TOKEN. `covey resume` ends it; `covey agents` shows it.""",
    examples="""\
examples:
  export COVEY_TOKEN=$(cat operator.token)
  covey pause coder --reason "it repeats itself"
  covey pause
  covey resume coder""",
)


def _resume_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="whom; by default the whole space")


def _run_resume(call: Call) -> int:
    given = call.options.name
    name = parse_agent_name(given) if given is not None else None
    was_paused = call.run(call.services.pauses.resume(name, actor_or_user(call)))
    if call.output.as_json:
        call.output.json({"agent": name, "changed": was_paused})
        return DONE
    who = name or "The space"
    call.output.text(f"{who} goes on." if was_paused else f"{who} was not paused: nothing was changed.")
    still = call.run(call.services.pauses.all())
    if still:
        call.output.note("Still paused: " + ", ".join("the space" if agent == "*" else agent for agent in still) + ".")
    return DONE


RESUME: Final = Verb(
    arguments=_resume_arguments,
    run=_run_resume,
    description="""\
Let an agent, or without a name the whole space, go on after `covey pause`. An agent that was paused by itself stays so
when the space goes on. It takes the operator's token, in COVEY_TOKEN.""",
    examples="""\
examples:
  COVEY_TOKEN=$(cat operator.token) covey resume coder
  COVEY_TOKEN=$(cat operator.token) covey resume""",
)


def describe_pause(pause: Pause) -> str:
    """Return the originator and the reason of a pause."""
    return f"paused by {pause.by}: {pause.reason}" if pause.reason else f"paused by {pause.by}"


def pause_document(pause: Pause) -> dict[str, Json]:
    """Return a pause as a JSON document."""
    return {"by": pause.by, "at": format_instant(pause.at), "reason": pause.reason}


def agent_document(view: AgentView) -> dict[str, Json]:
    """Return an agent as others see it now."""
    return {
        "agent": view.name,
        "presence": str(view.presence),
        "status": view.status,
        "sessions": [{"id": s.id, "key": str(s.key), "label": s.label} for s in view.sessions],
        "current_tasks": list(view.current_tasks),
        "registered_at": format_instant(view.registered_at),
        "paused": pause_document(view.pause) if view.pause else None,
        "last_seen_at": format_instant(view.last_seen_at) if view.last_seen_at else None,
        **encode_card(view.card),
    }


def _held_up(call: Call) -> Iterator[str]:
    """Yield notes on a paused space and on stopped exchanges."""
    with suppress(BeyondToken):  # an agent's token shows pauses of agents, but not exchanges of others
        whole = call.run(call.services.pauses.all()).get(WHOLE)
        if whole is not None:
            yield f"The space is {describe_pause(whole)}. `covey resume` lets it go on."
        stopped = (*call.run(call.services.storms.stopped()), *call.run(call.services.storms.exchanges()))
        if stopped:
            yield f"{counted(len(stopped), 'exchange')} stopped: `covey storms` shows why."


def presence(view: AgentView) -> str:
    """Return the presence of an agent. A channel has no sessions, but is reachable."""
    return "channel" if view.card.channel else "paused" if view.pause else view.presence


def _about(view: AgentView) -> str:
    """Return an agent's status or description, after the reason of its pause."""
    about = view.status or view.card.description
    return about if view.pause is None else "; ".join(filter(None, (describe_pause(view.pause), about)))


def _is_offline(view: AgentView) -> bool:
    return not view.sessions


def _tasks(view: AgentView) -> str:
    """Return the number of an agent's current tasks, and its quota."""
    return f"{len(view.current_tasks)} of {view.card.quota}"


def _show_sessions(call: Call, view: AgentView) -> None:
    call.output.table(
        ("kind", "label", "key", "session"),
        [(str(s.kind), s.label or "", str(s.key), s.id) for s in view.sessions],
        "",
    )


def _names(call: Call) -> int:
    names = call.run(call.services.directory.names())
    if call.output.as_json:
        call.output.json(list(names))
    else:
        for name in names:
            call.output.text(name)
    return DONE
