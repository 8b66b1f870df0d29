"""Any call: every public method of every service, with arguments that its annotations ask for.

A method that is new is called too, without a word about it here. A type that is new has to be given values first.
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
    "looking",
    "mail",
    "negotiations",
    "offers",
    "reading",
    "runs",
    "spawning",
    "tasks",
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
"""Refused to an agent's token as a whole."""

OTHERS: Final = (
    "attachments",
    "clock",
    "lately",
    "launching",
    "narrowed_to",
    "onlooking",
    "upkeep",
    "vouched",
    "waiting",
)
"""Not called: contents of files go by their hash, time, hints and bells are nobody's, upkeep is the space's own, what
watches over children is the process's, and who acts by the credentials of a store is no secret to who has them."""

WITHIN: Final = frozenset({Act, Transaction})
"""What a method takes that other services use within their transactions; no surface can call it."""

Values = Mapping[object, Callable[[], object]]
"""How to draw a value, by its type or by the name of the parameter."""


class AnyCall(NamedTuple):
    service: str
    method: str
    arguments: Mapping[str, Any]

    def on(self, services: Services) -> Any:
        """Do it; what it returns may have to be awaited."""
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
    """Draw the arguments of one call. What has a default is left out half of the time; but nobody waits here."""
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
    """Return what services offer."""
    return {name for name in dir(services) if not name.startswith("_")}
