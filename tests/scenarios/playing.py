"""Real processes that play roles: started together, and heard one line at a time."""

import json
from collections.abc import Callable, Sequence
from typing import cast

from tests.adapters.children import Child

Start = Callable[..., Child]
PROGRAM = "from tests.scenarios.roles import main; main()"


def go(children: Sequence[Child]) -> None:
    """Let all begin at once, as soon as each has the space open."""
    for one in children:
        assert told(one) == "ready"
    for one in children:
        one.say("go")


def told(one: Child) -> object:
    """Return the next thing that a process tells."""
    return json.loads(one.line())


def strings(told: object) -> list[str]:
    """Return a list that a process told."""
    assert isinstance(told, list)
    return [str(item) for item in cast(list[object], told)]
