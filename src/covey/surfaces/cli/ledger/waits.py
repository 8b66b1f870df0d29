"""The verb `waits`."""

from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from covey.core.json import Json
from covey.core.ledger.waits import Edge, circles
from covey.core.names import parse_agent_name
from covey.core.times import format_instant
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.times import age


def _waits_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="only where this agent waits, or is waited for")
    parser.add_argument("--blocked", action="store_true", help="only those who do nothing meanwhile")


def _run_waits(call: Call) -> int:
    options = call.options
    edges = call.run(call.services.waits.graph())
    circular = {*circles(edges)}
    if options.name is not None:
        name = call.run(call.services.directory.agent(parse_agent_name(options.name))).name
        edges = [edge for edge in edges if name in (edge.waiter, edge.awaited)]
    shown = [edge for edge in edges if edge.is_wait or not options.blocked]
    if call.output.as_json:
        call.output.json([wait_document(edge, edge in circular) for edge in shown])
        return DONE
    _show(call, shown, circular)
    return DONE


WAITS: Final = Verb(
    arguments=_waits_arguments,
    run=_run_waits,
    description="""\
Show who waits for whom, the longest first. Who waits does nothing else until the answer or the task is there, or its
time has run out; whoever is only owed something goes on meanwhile, and can still answer. What would close a circle of
waits is refused, so a circle that is shown here has somebody in it who goes on; it is marked, because it may be what
holds things up.""",
    examples="""\
examples:
  covey waits
  covey waits coder
  covey waits --blocked --json""",
)


def _show(call: Call, edges: Sequence[Edge], circular: set[Edge]) -> None:
    now = call.services.clock.now()
    call.output.table(
        ("who", "needs", "since", "waits", "circle", "what"),
        [
            (
                edge.waiter,
                edge.awaited,
                age(edge.since, now),
                _left(edge, now),
                "yes" if edge in circular else "",
                f"{'task' if edge.is_task else 'answer'} {edge.what.partition('@')[0]}",
            )
            for edge in edges
        ],
        "Nobody waits for anybody.",
    )


def _left(edge: Edge, now: datetime) -> str:
    """Return the remaining time of a wait."""
    return "no" if edge.until is None else f"{age(now, edge.until)} more"


def wait_document(edge: Edge, is_circular: bool) -> dict[str, Json]:
    """Return an edge of the wait graph as a JSON document."""
    return {
        "waiter": edge.waiter,
        "awaited": edge.awaited,
        "task": edge.what if edge.is_task else None,
        "ticket": None if edge.is_task else edge.what,
        "since": format_instant(edge.since),
        "until": format_instant(edge.until) if edge.until else None,
        "waits": edge.is_wait,
        "circle": is_circular,
    }
