"""Diagrams as text for other programs: Mermaid flowcharts and Graphviz graphs.

Labels are foreign text. They are escaped so that no label can end its quotes or add a line.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from covey.surfaces.cli.terminal.text import one_line, printable

_PLAIN: Final = frozenset(" ,.?!/'()-→")
"""Characters beside letters and digits that mean nothing in a label of Mermaid, unless they begin it."""

_LIST: Final = re.compile(r"[0-9]+[.)]")
"""The start of a numbered list: Mermaid reads labels as Markdown."""


class DiagramNode(NamedTuple):
    key: str
    label: str


class DiagramEdge(NamedTuple):
    tail: str
    """The key of the node where the edge begins."""
    head: str
    label: str = ""


class Diagram(NamedTuple):
    nodes: Sequence[DiagramNode]
    edges: Sequence[DiagramEdge]
    """The edges. Both ends of each are in `nodes`."""
    across: bool = False
    """True if the diagram goes from left to right, and not from top to bottom."""


def mermaid(diagram: Diagram) -> Iterator[str]:
    """Yield the lines of a Mermaid flowchart."""
    names = _names(diagram)
    yield f"flowchart {'LR' if diagram.across else 'TD'}"
    for node in diagram.nodes:
        yield f'    {names[node.key]}["{_mermaid_text(node.label)}"]'
    for edge in diagram.edges:
        label = f'|"{_mermaid_text(edge.label)}"|' if edge.label else ""
        yield f"    {names[edge.tail]} -->{label} {names[edge.head]}"


def dot(diagram: Diagram) -> Iterator[str]:
    """Yield the lines of a graph in the language of Graphviz."""
    names = _names(diagram)
    yield "digraph covey {"
    yield f"    rankdir={'LR' if diagram.across else 'TB'};"
    yield "    node [shape=box];"
    for node in diagram.nodes:
        yield f'    {names[node.key]} [label="{_dot_text(node.label)}"];'
    for edge in diagram.edges:
        label = f' [label="{_dot_text(edge.label)}"]' if edge.label else ""
        yield f"    {names[edge.tail]} -> {names[edge.head]}{label};"
    yield "}"


def _names(diagram: Diagram) -> dict[str, str]:
    """Return an identifier for each node: keys may be words of the language."""
    return {node.key: f"n{number}" for number, node in enumerate(diagram.nodes, 1)}


def _mermaid_text(text: str) -> str:
    """Return a text for a quoted label of Mermaid, with entity codes for all characters that may have a meaning."""
    shown = one_line(printable(text))
    listed = _LIST.match(shown)
    end = listed.end() if listed else 1
    return "".join(
        char if char.isalnum() or (char in _PLAIN and n >= end) else f"#{ord(char)};" for n, char in enumerate(shown)
    )


def _dot_text(text: str) -> str:
    """Return a text for a quoted label of Graphviz, which reads backslashes and HTML entities in labels."""
    return one_line(printable(text)).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
