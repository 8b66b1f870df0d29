"""State diagrams (Mermaid), made from the state tables so that the docs can't differ from the code."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from covey.core.ledger.delivery import MOVES, DeliveryState
from covey.core.ledger.ticket import TICKET_MOVES, TicketState
from covey.core.work.task import TASK_MOVES, TaskState

S = TypeVar("S", bound=StrEnum)
M = TypeVar("M", bound=StrEnum)


def delivery_diagram() -> str:
    """Return the diagram of a delivery's states."""
    return _diagram(MOVES, DeliveryState.ACCEPTED)


def ticket_diagram() -> str:
    """Return the diagram of a ticket's states."""
    return _diagram(TICKET_MOVES, TicketState.OPEN)


def task_diagram() -> str:
    """Return the diagram of a task's states."""
    return _diagram(TASK_MOVES, TaskState.PENDING)


def _diagram(table: Mapping[S, Mapping[M, S]], start: S) -> str:
    """Return a table as text: one arrow for each pair of states, labelled with all moves that lead along it."""
    lines = ["stateDiagram-v2", f"    [*] --> {start}"]
    for state, moves in table.items():
        arrows: dict[S, list[str]] = {}
        for move, target in moves.items():
            arrows.setdefault(target, []).append(str(move))
        lines += [f"    {state} --> {target}: {', '.join(names)}" for target, names in arrows.items()]
    lines += [f"    {state} --> [*]" for state, moves in table.items() if not moves]
    return "\n".join(lines) + "\n"
