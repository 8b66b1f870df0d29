"""Known names: the agents and sessions of a space, looked up for a shell that completes words."""

from collections.abc import Sequence
from typing import Final

from covey.core.names import AgentName
from covey.engines import is_there
from covey.surfaces.cli.call import Call

_MANY: Final = 1_000


def known_names(call: Call) -> Sequence[AgentName]:
    """Return the names of all agents. No store is made where there is none: pressing a key changes nothing."""
    return call.run(call.services.directory.names()) if is_there(call.url) else ()


def known_children(call: Call) -> Sequence[tuple[str, str]]:
    """Return what the children that run are called, by label or the beginning of their run's id, and what they do."""
    if not is_there(call.url):
        return ()
    from covey.ports.work import RunFilter
    from covey.surfaces.cli.sessions.naming import short

    views = call.run(call.services.runs.find(RunFilter(has_ended=False), _MANY))
    return [(view.run.label or short(view.run), view.run.description or view.run.agent) for view in views]


def known_sessions(call: Call) -> Sequence[tuple[str, str]]:
    """Return the same, and what other live sessions are called that have a label."""
    if not is_there(call.url):
        return ()
    children = known_children(call)
    sessions = [session for view in call.run(call.services.directory.agents()) for session in view.sessions]
    labels = {session.label: session.agent for session in sessions if session.label is not None}
    return [*children, *((label, agent) for label, agent in labels.items() if label not in dict(children))]
