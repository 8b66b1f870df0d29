"""Arbitrary calls: every public method of every service, with arguments drawn by its annotations.

A new method is called without a change here. A new parameter type needs an entry in the table of values first.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple, get_type_hints

from covey.ports.store import Transaction
from covey.services.act import Act
from covey.services.space import Services

SERVICES: Final = (
    "approvals",
    "asks",
    "attention",
    "clients",
    "dialogue",
    "directory",
    "duties",
    "history",
    "identities",
    "inbox_limits",
    "inbox",
    "mail",
    "negotiations",
    "offers",
    "reading",
    "runs",
    "spawning",
    "status",
    "tasks",
    "traffic",
    "waits",
    "work",
)

WHOLE: Final = (
    "audit",
    "bridge",
    "channels",
    "exports",
    "imports",
    "pauses",
    "policies",
    "posts",
    "prune",
    "storms",
    "supervision",
)
"""Services that are refused to an agent's token as a whole."""

OTHERS: Final = (
    "attachments",
    "clock",
    "recently_shown",
    "launching",
    "narrowed_to",
    "passive_waiting",
    "upkeep",
    "vouched",
    "waiting",
)
"""Services that are not called.

Attachments are addressed by their hash. Time, hints and wake-ups have no owner. Upkeep belongs to the space, and the
supervision of children to the process. The identity behind a store's credentials is no secret to their holder.
"""

WITHIN: Final = frozenset({Act, Transaction})
"""Parameter types of methods that other services call within their transactions. No surface can call those methods."""

Values = Mapping[object, Callable[[], object]]
"""Functions that draw a value, by its type or by the name of the parameter."""


class AnyCall(NamedTuple):
    service: str
    method: str
    arguments: Mapping[str, Any]

    def on(self, services: Services) -> Any:
        """Make the call. The result may be an awaitable."""
        return getattr(getattr(services, self.service), self.method)(**self.arguments)


def methods(services: Services) -> Sequence[tuple[str, str]]:
    """Return every public method of the services, by the names of both."""
    return [
        (service, name)
        for service in SERVICES
        for name, method in inspect.getmembers(getattr(services, service), inspect.ismethod)
        if not name.startswith("_") and not WITHIN & set(get_type_hints(method).values())
    ]


def draw(services: Services, service: str, method: str, values: Values, random: Random) -> AnyCall:
    """Draw the arguments of one call.

    A parameter with a default is left out half of the time, except the timeout, so that no call waits.
    """
    function = getattr(getattr(services, service), method)
    hints = get_type_hints(function)
    arguments: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name != "timeout" and parameter.default is not inspect.Parameter.empty and random.random() < 0.5:
            continue
        drawn = values.get(name) or values.get(hints[name])
        assert drawn is not None, f"{service}.{method}({name}: {hints[name]}): say how to draw one"
        arguments[name] = drawn()
    return AnyCall(service, method, arguments)


def public_names(services: type[Services]) -> set[str]:
    """Return the public names of the services."""
    return {name for name in dir(services) if not name.startswith("_")}
