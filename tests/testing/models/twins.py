"""Twins: a request that its provider refuses, and the one next to it that it takes."""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.json import Json, JsonObject
from covey.testing.models import Api, refusal_of


class Twins(NamedTuple):
    """Two requests that differ in what one rule is about."""

    rule: str
    wrong: JsonObject
    right: JsonObject
    told: str
    """What stands in the refusal."""
    betas: Sequence[str] = ()


def check(api: Api, twins: Twins) -> None:
    """Show that the wrong one is refused for the right reason, and that the right one is taken."""
    refusal = refusal_of(api, twins.wrong, twins.betas)
    assert refusal is not None, f"taken, against the rule: {twins.rule}"
    assert twins.told in refusal.message
    assert 400 <= refusal.status < 500
    taken = refusal_of(api, twins.right, twins.betas)
    assert taken is None, f"refused: {taken}"


def without(body: JsonObject, *names: str) -> JsonObject:
    """Return a request that lacks these fields."""
    return {name: value for name, value in body.items() if name not in names}


def schema(**properties: Json) -> JsonObject:
    """Return the schema of an object that has these properties."""
    return {"type": "object", "properties": properties}
