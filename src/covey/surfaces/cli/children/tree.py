"""The tree of live sessions with their children, and on demand with children that have ended."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.directory.session import Session
from covey.core.errors import NotFound
from covey.core.json import Json
from covey.core.names import AgentName
from covey.core.work.run import Run
from covey.ports.work import RunFilter
from covey.services.directory.directory import AgentView
from covey.services.space import Services
from covey.surfaces.cli.children.runs import run_document, session_document, short_id
from covey.surfaces.cli.terminal.layout import Branch, Line, cut, laid_out
from covey.surfaces.cli.terminal.text import clipped, one_line
from covey.surfaces.cli.times import age

MANY: Final = 1_000
"""Maximum number of children shown: the latest ones."""


class SessionNode(NamedTuple):
    """A session, a child that has ended, or an agent that started children without a session."""

    id: str
    agent: AgentName
    above: str | None = None
    session: Session | None = None
    run: Run | None = None
    about: str = ""


async def forest(services: Services, agent: AgentName | None, *, with_ended: bool) -> Sequence[Branch[SessionNode]]:
    """Return the sessions, laid out as trees. With an agent, only the trees that contain it."""
    agents = await services.directory.agents()
    views = await services.runs.find(RunFilter(has_ended=None if with_ended else False), MANY)
    runs = {view.run.session: view.run for view in views if with_ended or not view.run.has_ended}
    mains = [_main(view, session) for view in agents for session in view.sessions if session.id not in runs]
    sessions = {session.id: session for view in agents for session in view.sessions}
    known = {*(node.id for node in mains), *runs}
    children = [
        SessionNode(
            run.session, run.agent, _above(run, known), sessions.get(run.session), run, await _task(services, run)
        )
        for run in runs.values()
    ]
    absent = sorted({(node.above or "", node.run.parent_agent) for node in children if node.run} - {("", "")})
    standing = [SessionNode(name, owner) for name, owner in absent if name not in known]
    trees = list(laid_out([*mains, *standing, *children], lambda node: node.id, lambda node: node.above))
    return trees if agent is None else _with(agent, trees)


def _main(view: AgentView, session: Session) -> SessionNode:
    return SessionNode(session.id, view.name, None, session, None, view.status or view.card.description)


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


def _with(agent: AgentName, trees: Sequence[Branch[SessionNode]]) -> Sequence[Branch[SessionNode]]:
    """Return the trees that contain an agent."""
    kept: list[Branch[SessionNode]] = []
    tree: list[Branch[SessionNode]] = []
    for branch in (*trees, None):
        if branch is None or not branch.lead:
            kept += tree if any(each.item.agent == agent for each in tree) else ()
            tree = []
        if branch is not None:
            tree.append(branch)
    return kept


LONGEST: Final = 400
NOTHING: Final = "No session is live. `covey join NAME` or `covey spawn` begins one."


def tree_lines(
    trees: Sequence[Branch[SessionNode]], now: datetime, width: int, styles: Mapping[str, str]
) -> Sequence[Line]:
    """Return two lines for each session, at most `width` wide: its name with its state, and its key."""
    lines: list[Line] = []
    for node, lead, margin in trees:
        lines.append(cut([(lead, ""), *_head(node, now, styles)], width))
        if (key := _key(node)) is not None:
            lines.append(cut([(margin, ""), (key, "dim")], width))
    return lines


def tree_document(trees: Sequence[Branch[SessionNode]]) -> list[Json]:
    """Return the tree as a list for programs. Each node follows its parent, which `above` names."""
    return [_document(branch.item) for branch in trees]


def _head(node: SessionNode, now: datetime, styles: Mapping[str, str]) -> Line:
    label = node.run.label if node.run is not None else node.session.label if node.session is not None else None
    state = _state(node)
    run = node.run
    since = (run.ended_at or run.started_at) if run is not None else node.session.joined_at if node.session else None
    return [
        (f"{label} ({node.agent})" if label else node.agent, "bold"),
        (f"  {state}", styles.get(state, "")),
        (f"  {age(since, now)}{' ago' if run is not None and run.has_ended else ''}" if since else "", "dim"),
        (f"  {short_id(run)}" if run is not None else "", "cyan"),
        (f"  {clipped(one_line(node.about), LONGEST)}" if node.about else "", ""),
    ]


def _state(node: SessionNode) -> str:
    if node.run is not None:
        return str(node.run.state)
    return "no session" if node.session is None else str(node.session.activity)


def _key(node: SessionNode) -> str | None:
    if node.run is not None:
        return str(node.run.key)
    return None if node.session is None else str(node.session.key)


def _document(node: SessionNode) -> Json:
    session, run = node.session, node.run
    known = session_document(session, node.about) if session is not None else {"agent": node.agent, "about": node.about}
    return {
        **known,
        "id": node.id,
        "above": node.above,
        "is_live": session is not None,
        "run": None if run is None else run_document(run),
    }
