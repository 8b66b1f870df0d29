"""Known names: the agents and sessions of a space, for completion in a shell."""

from collections.abc import Sequence
from typing import Final

from covey.core.names import AgentName
from covey.engines import is_there
from covey.surfaces.cli.call import Call

_MANY: Final = 1_000


def known_names(call: Call) -> Sequence[AgentName]:
    """Return the names of all agents. A missing store is not created: completion changes nothing."""
    return call.run(call.services.directory.names()) if is_there(call.url) else ()


def known_children(call: Call) -> Sequence[tuple[str, str]]:
    """Return the running children, each with its description or agent.

    A child is named by its label, or else by the beginning of its run's id.
    """
    if not is_there(call.url):
        return ()
    from covey.ports.work import RunFilter
    from covey.surfaces.cli.sessions.naming import short

    views = call.run(call.services.runs.find(RunFilter(has_ended=False), _MANY))
    return [(view.run.label or short(view.run), view.run.description or view.run.agent) for view in views]


def known_sessions(call: Call) -> Sequence[tuple[str, str]]:
    """Return the running children, and other live sessions that have a label."""
    if not is_there(call.url):
        return ()
    children = known_children(call)
    sessions = [session for view in call.run(call.services.directory.agents()) for session in view.sessions]
    labels = {session.label: session.agent for session in sessions if session.label is not None}
    return [*children, *((label, agent) for label, agent in labels.items() if label not in dict(children))]
