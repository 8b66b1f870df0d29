"""covey agents."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import suppress

from covey.core.directory.pause import WHOLE
from covey.core.errors import BeyondToken
from covey.core.text.wording import counted
from covey.services.directory.directory import AgentView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.known_names import known_names
from covey.surfaces.cli.views.pausing import told_pause
from covey.surfaces.cli.views.ticket_document import agent_document

DESCRIPTION = """\
List the agents of the space, those with a live session first: who is idle, busy or offline, and how many tasks each
works on and may work on. Who is offline can be written to; its mail waits. With a name: that agent alone, with its
sessions and their keys."""
EXAMPLES = """\
examples:
  covey agents
  covey agents --live
  covey agents coder"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="only this agent, with its sessions")
    parser.add_argument("--live", action="store_true", help="only those with a live session")
    parser.add_argument("--names", action="store_true", help="only the names, one a line; never makes a store")


def run(call: Call) -> int:
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
        [(view.name, _presence(view), str(len(view.sessions)), _tasks(view), _about(view)) for view in shown],
        "Nobody is here." if options.live else "Nobody is known here. `covey join NAME` begins.",
    )
    if options.name is not None and shown[0].sessions:
        call.output.text()
        _show_sessions(call, shown[0])
    for line in _held_up(call):
        call.output.note(line)
    return DONE


def _held_up(call: Call) -> Iterator[str]:
    """Yield notes on a paused space and on stopped exchanges."""
    with suppress(BeyondToken):  # an agent's token shows pauses of agents, but not exchanges of others
        whole = call.run(call.services.pauses.all()).get(WHOLE)
        if whole is not None:
            yield f"The space is {told_pause(whole)}. `covey resume` lets it go on."
        stopped = (*call.run(call.services.storms.stopped()), *call.run(call.services.storms.exchanges()))
        if stopped:
            yield f"{counted(len(stopped), 'exchange')} stopped: `covey storms` shows why."


def _presence(view: AgentView) -> str:
    """Return the presence of an agent. A channel has no sessions, but is reachable."""
    return "channel" if view.card.channel else "paused" if view.pause else view.presence


def _about(view: AgentView) -> str:
    """Return an agent's status or description, after the reason of its pause."""
    about = view.status or view.card.description
    return about if view.pause is None else "; ".join(filter(None, (told_pause(view.pause), about)))


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
    names = known_names(call)
    if call.output.as_json:
        call.output.json(list(names))
    else:
        for name in names:
            call.output.text(name)
    return DONE
