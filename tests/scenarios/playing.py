"""Real processes that play roles: started together, and read line by line."""

import json
from collections.abc import Callable, Sequence
from typing import cast

from tests.adapters.children import Child

Start = Callable[..., Child]
PROGRAM = "from tests.scenarios.roles import main; main()"


def go(children: Sequence[Child]) -> None:
    """Start all roles at once, as soon as each process has the space open."""
    for one in children:
        assert told(one) == "ready"
    for one in children:
        one.say("go")


def told(one: Child) -> object:
    """Return the next value that a process prints."""
    return json.loads(one.line())


def strings(told: object) -> list[str]:
    """Return a printed list as strings."""
    assert isinstance(told, list)
    return [str(item) for item in cast(list[object], told)]
