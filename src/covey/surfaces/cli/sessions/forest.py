"""The forest: live sessions with their children below them, and on demand children that have ended."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.core.directory.session import Session
from covey.core.errors import NotFound
from covey.core.names import AgentName
from covey.core.work.run import Run
from covey.ports.work import RunFilter
from covey.services.directory.directory import AgentView
from covey.services.space import Services
from covey.surfaces.cli.terminal.branches import Branch, laid_out

MANY: Final = 1_000
"""Maximum number of children shown: the latest ones."""


class Node(NamedTuple):
    """A session, a child that has ended, or an agent that started children without a session."""

    id: str
    agent: AgentName
    above: str | None = None
    session: Session | None = None
    run: Run | None = None
    about: str = ""


async def forest(services: Services, agent: AgentName | None, *, with_ended: bool) -> Sequence[Branch[Node]]:
    """Return the sessions, laid out as trees. With an agent, only the trees that contain it."""
    agents = await services.directory.agents()
    views = await services.runs.find(RunFilter(has_ended=None if with_ended else False), MANY)
    runs = {view.run.session: view.run for view in views if with_ended or not view.run.has_ended}
    mains = [_main(view, session) for view in agents for session in view.sessions if session.id not in runs]
    sessions = {session.id: session for view in agents for session in view.sessions}
    known = {*(node.id for node in mains), *runs}
    children = [
        Node(run.session, run.agent, _above(run, known), sessions.get(run.session), run, await _task(services, run))
        for run in runs.values()
    ]
    absent = sorted({(node.above or "", node.run.parent_agent) for node in children if node.run} - {("", "")})
    standing = [Node(name, owner) for name, owner in absent if name not in known]
    trees = list(laid_out([*mains, *standing, *children], lambda node: node.id, lambda node: node.above))
    return trees if agent is None else _with(agent, trees)


def _main(view: AgentView, session: Session) -> Node:
    return Node(session.id, view.name, None, session, None, view.status or view.card.description)


def _above(run: Run, known: set[str]) -> str:
    """Return the parent of a child: the session that started it, or its agent if that session is not shown."""
    return run.parent if run.parent is not None and run.parent in known else f"agent {run.parent_agent}"


async def _task(services: Services, run: Run) -> str:
    """Return the purpose of a child, or the reason of its end."""
    if run.has_ended and run.reason:
        return run.reason
    if run.description:
        return run.description
    try:
        marks = (await services.mail.message(run.request)).marks
    except NotFound:  # the child was not asked yet, or its thread was pruned
        return ""
    return (marks.brief if marks is not None else None) or ""


def _with(agent: AgentName, trees: Sequence[Branch[Node]]) -> Sequence[Branch[Node]]:
    """Return the trees that contain an agent."""
    kept: list[Branch[Node]] = []
    tree: list[Branch[Node]] = []
    for branch in (*trees, None):
        if branch is None or not branch.lead:
            kept += tree if any(each.item.agent == agent for each in tree) else ()
            tree = []
        if branch is not None:
            tree.append(branch)
    return kept
