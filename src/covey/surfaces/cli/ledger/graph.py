"""The verb `graph`: the messages between agents, a thread, or the delegations of a task, as a drawing."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.core.errors import Invalid, TaskUnknown
from covey.core.json import Json
from covey.core.ledger.ticket import TicketState
from covey.core.names import MessageId
from covey.core.reporting import counted
from covey.core.times import format_instant
from covey.services.mail.traffic import ThreadMessage, TrafficEdge, TrafficGraph
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.names import message_of
from covey.surfaces.cli.tasks.records import title, tree_document, who
from covey.surfaces.cli.terminal.layout import LONGEST, cut, laid_out
from covey.surfaces.cli.terminal.text import clipped, one_line
from covey.surfaces.cli.times import age, parse_when
from covey.surfaces.cli.views.diagrams import Diagram, DiagramEdge, DiagramNode, dot, mermaid
from covey.surfaces.cli.views.documents import message_document

LABEL: Final = 60
"""Maximum length of a message's text in a diagram."""


def _graph_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="MESSAGE|TASK", nargs="?", help="a message, for its thread, or a task: an id, or coder:3"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--mermaid", action="store_true", help="write a Mermaid flowchart")
    form.add_argument("--dot", action="store_true", help="write a graph for Graphviz")
    parser.add_argument(
        "--since", metavar="TIME", help="only newer messages: 10m, 2h, 3d or an ISO time with a zone; without an id"
    )


def _run_graph(call: Call) -> int:
    options = call.options
    if options.id is None:
        return _show_space(call)
    if options.since is not None:
        raise Invalid("--since", options.since, "a thread and a task are drawn as a whole; leave out one of the two")
    message_id = message_of(call, options.id)
    try:
        tree = call.run(call.services.tasks.tree(message_id))
    except TaskUnknown:
        return _show_thread(call, call.run(call.services.traffic.thread(message_id)))
    return _show_tasks(call, tree, message_id)


GRAPH: Final = Verb(
    arguments=_graph_arguments,
    run=_run_graph,
    description="""\
Draw the messages between agents: an edge for each sender and recipient, with the number of messages, and of open and
answered questions. With a message: its thread as a tree, each reply below its question. With a task: its tree of
delegations.

--mermaid and --dot write the same graph as text for other programs. With an agent's token, the graph has only the
agent's own messages.""",
    examples="""\
examples:
  covey graph --since 1d
  covey graph coder:3
  covey graph --mermaid > talk.mmd
  covey graph --dot > talk.dot""",
)


def _show_space(call: Call) -> int:
    now = call.services.clock.now()
    since = parse_when(call.options.since, now) if call.options.since else None
    graph = call.run(call.services.traffic.graph(since))
    if call.output.as_json:
        call.output.json(_space_document(graph))
    elif not _write_diagram(call, _space_diagram(graph)):
        _draw_space(call, graph)
    if not graph.is_complete:
        call.output.note(f"Only the newest {graph.messages:,} messages are counted; --since names a shorter time.")
    return DONE


class SpaceNode(NamedTuple):
    """A line of the drawing: a sender, or one of its edges."""

    key: str
    above: str | None
    edge: TrafficEdge | None = None


def _draw_space(call: Call, graph: TrafficGraph) -> None:
    if not graph.edges:
        call.output.text("No agent has sent a message to another agent in this time.")
        return
    now = call.services.clock.now()
    nodes = [SpaceNode(name, None) for name in sorted({edge.sender for edge in graph.edges})]
    nodes += [SpaceNode(f"{edge.sender}>{edge.recipient}", edge.sender, edge) for edge in graph.edges]
    for (key, _, edge), lead, margin in laid_out(nodes, lambda node: node.key, lambda node: node.above):
        if edge is None:
            call.output.pieces((key, "bold cyan"), lead=lead, margin=margin)
            continue
        widest = max(len(other.recipient) for other in graph.edges if other.sender == edge.sender)
        asked = _questions(edge)
        call.output.pieces(
            ("→ ", "dim"),
            (f"{edge.recipient:<{widest}}", "cyan"),
            (f"  {counted(edge.messages, 'message')}", ""),
            (f", {asked}" if asked else "", "yellow" if edge.open else "green"),
            (f", last {age(edge.last_at, now)} ago", "dim"),
            lead=lead,
            margin=margin + "  ",
        )


def _questions(edge: TrafficEdge) -> str:
    parts = [f"{number} {word}" for number, word in ((edge.open, "open"), (edge.answered, "answered")) if number]
    return f"questions: {', '.join(parts)}" if parts else ""


def _space_diagram(graph: TrafficGraph) -> Diagram:
    names = sorted({name for edge in graph.edges for name in (edge.sender, edge.recipient)})
    edges = [
        DiagramEdge(
            edge.sender,
            edge.recipient,
            ", ".join(filter(None, (counted(edge.messages, "message"), _questions(edge)))),
        )
        for edge in graph.edges
    ]
    return Diagram([DiagramNode(name, name) for name in names], edges, across=True)


def _space_document(graph: TrafficGraph) -> dict[str, Json]:
    return {
        "messages": graph.messages,
        "complete": graph.is_complete,
        "edges": [
            {
                "from": edge.sender,
                "to": edge.recipient,
                "messages": edge.messages,
                "open": edge.open,
                "answered": edge.answered,
                "last_at": format_instant(edge.last_at),
            }
            for edge in graph.edges
        ],
    }


def _show_thread(call: Call, thread: Sequence[ThreadMessage]) -> int:
    if call.output.as_json:
        call.output.json({"thread": [_thread_document(entry) for entry in thread]})
        return DONE
    edges = [(entry.message.in_reply_to, entry.message.id) for entry in thread]
    nodes = [DiagramNode(entry.message.id, _thread_label(entry)) for entry in thread]
    if not _write_diagram(call, _tree_diagram(nodes, edges)):
        now = call.services.clock.now()
        for entry, lead, _ in laid_out(thread, lambda e: e.message.id, lambda e: e.message.in_reply_to):
            state = _state(entry)
            line = [
                (lead, "dim"),
                (_between(entry), "cyan"),
                (f"  {entry.message.kind}", "bold"),
                (f", {state}" if state else "", call.output.style(state.partition(" ")[0])),
                (f", {age(entry.message.created_at, now)} ago", "dim"),
                (f"  {clipped(one_line(entry.message.text), LONGEST)}", ""),
            ]
            call.output.pieces(*cut(line, call.output.width))
    return DONE


def _between(entry: ThreadMessage) -> str:
    return f"{entry.message.sender.agent} → {', '.join(address.value for address in entry.message.to)}"


def _state(entry: ThreadMessage) -> str:
    """Return the state of the question that a message asks, or "" if it asks none."""
    debtors = [ticket.debtor for ticket in entry.tickets if ticket.state is TicketState.OPEN]
    if debtors:
        return "open" if len(entry.tickets) == 1 else f"open for {', '.join(debtors)}"
    return "answered" if any(ticket.answer for ticket in entry.tickets) else "closed" if entry.tickets else ""


def _thread_label(entry: ThreadMessage) -> str:
    head = ", ".join(filter(None, (f"{_between(entry)} ({entry.message.kind}", _state(entry)))) + ")"
    return f"{head}: {clipped(one_line(entry.message.text), LABEL)}"


def _thread_document(entry: ThreadMessage) -> dict[str, Json]:
    return {
        **message_document(entry.message),
        "questions": [
            {"debtor": ticket.debtor, "state": str(ticket.state), "answer": ticket.answer} for ticket in entry.tickets
        ],
    }


def _show_tasks(call: Call, tree: Sequence[TaskView], here: MessageId) -> int:
    if call.output.as_json:
        call.output.json({"task": tree_document(tree)})
        return DONE
    nodes = [
        DiagramNode(view.task.id, f"{who(view.task)} ({view.task.state}): {clipped(title(view.message), LABEL)}")
        for view in tree
    ]
    if not _write_diagram(call, _tree_diagram(nodes, [(view.task.parent, view.task.id) for view in tree])):
        from covey.surfaces.cli.tasks.task import show_tree  # imported late because only some calls draw tasks

        show_tree(call, tree, here)
    return DONE


def _tree_diagram(nodes: Sequence[DiagramNode], edges: Sequence[tuple[str | None, str]]) -> Diagram:
    known = {node.key for node in nodes}
    return Diagram(nodes, [DiagramEdge(above, below) for above, below in edges if above is not None and above in known])


def _write_diagram(call: Call, diagram: Diagram) -> bool:
    """Write a diagram in the requested language. Return False if none was requested."""
    if not call.options.mermaid and not call.options.dot:
        return False
    for line in mermaid(diagram) if call.options.mermaid else dot(diagram):
        call.output.text(line)
    return True
