"""Agreement between the diagrams in the docs and the tables."""

import re
from pathlib import Path

from covey.core.diagram import delivery_diagram, task_diagram, ticket_diagram
from covey.core.ledger.delivery import MOVES

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "ledger.md"


def test_the_docs_show_exactly_the_diagrams_of_the_tables() -> None:
    shown = re.findall(r"```mermaid\n(.*?)```\n", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown == [delivery_diagram(), ticket_diagram(), task_diagram()], "run `python tools/diagrams.py`"


def test_every_move_of_the_table_is_an_arrow() -> None:
    found = re.findall(r"(\w+) --> (\w+): (.+)", delivery_diagram())
    arrows = {(state, target, move) for state, target, moves in found for move in moves.split(", ")}
    assert arrows == {(state, target, move) for state, line in MOVES.items() for move, target in line.items()}


def test_moves_between_the_same_states_share_an_arrow() -> None:
    assert ticket_diagram().splitlines() == [
        "stateDiagram-v2",
        "    [*] --> open",
        "    open --> answered: answer",
        "    open --> closed: archive, refuse, waive, force, withdraw",
        "    answered --> closed: archive, waive, force",
        "    closed --> [*]",
    ]
