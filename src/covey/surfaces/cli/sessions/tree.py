"""The tree of sessions, for people and programs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from covey.core.json import Json
from covey.surfaces.cli.options.when import age
from covey.surfaces.cli.sessions.document import run_document, session_document
from covey.surfaces.cli.sessions.forest import Node
from covey.surfaces.cli.sessions.naming import short
from covey.surfaces.cli.terminal.branches import Branch
from covey.surfaces.cli.terminal.letters import cells, clipped, fitted, one_line, printable

Piece = tuple[str, str]

LONGEST: Final = 400
NOTHING: Final = "No session is live. `covey join NAME` or `covey spawn` begins one."


def tree_lines(
    trees: Sequence[Branch[Node]], now: datetime, width: int, styles: Mapping[str, str]
) -> Sequence[Sequence[Piece]]:
    """Return two lines for each session, at most `width` wide: its name with its state, and its key."""
    lines: list[Sequence[Piece]] = []
    for node, lead, margin in trees:
        lines.append(_cut([(lead, ""), *_head(node, now, styles)], width))
        if (key := _key(node)) is not None:
            lines.append(_cut([(margin, ""), (key, "dim")], width))
    return lines


def tree_document(trees: Sequence[Branch[Node]]) -> list[Json]:
    """Return the tree as a list for programs. Each node follows its parent, which `above` names."""
    return [_document(branch.item) for branch in trees]


def _head(node: Node, now: datetime, styles: Mapping[str, str]) -> Sequence[Piece]:
    label = node.run.label if node.run is not None else node.session.label if node.session is not None else None
    state = _state(node)
    run = node.run
    since = (run.ended_at or run.started_at) if run is not None else node.session.joined_at if node.session else None
    return [
        (f"{label} ({node.agent})" if label else node.agent, "bold"),
        (f"  {state}", styles.get(state, "")),
        (f"  {age(since, now)}{' ago' if run is not None and run.has_ended else ''}" if since else "", "dim"),
        (f"  {short(run)}" if run is not None else "", "cyan"),
        (f"  {clipped(one_line(node.about), LONGEST)}" if node.about else "", ""),
    ]


def _state(node: Node) -> str:
    if node.run is not None:
        return str(node.run.state)
    return "no session" if node.session is None else str(node.session.activity)


def _key(node: Node) -> str | None:
    if node.run is not None:
        return str(node.run.key)
    return None if node.session is None else str(node.session.key)


def _document(node: Node) -> Json:
    session, run = node.session, node.run
    known = session_document(session, node.about) if session is not None else {"agent": node.agent, "about": node.about}
    return {
        **known,
        "id": node.id,
        "above": node.above,
        "is_live": session is not None,
        "run": None if run is None else run_document(run),
    }


def _cut(line: Sequence[Piece], width: int) -> Sequence[Piece]:
    """Return the line, cut to a width."""
    pieces: list[Piece] = []
    for text, style in line:
        room = width - sum(cells(piece) for piece, _ in pieces)
        if room > 0 and text:
            pieces.append((fitted(printable(text), room), style))
    return pieces
