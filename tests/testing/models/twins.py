"""Twins: a request that its provider refuses, and a similar one that it accepts."""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.json import Json, JsonObject
from covey.testing.models import Api, refusal_of


class Twins(NamedTuple):
    """Two requests that differ in the subject of one rule."""

    rule: str
    wrong: JsonObject
    right: JsonObject
    told: str
    """A part of the refusal's message."""
    betas: Sequence[str] = ()


def check(api: Api, twins: Twins) -> None:
    """Check that the wrong request is refused for the right reason, and that the right one is accepted."""
    refusal = refusal_of(api, twins.wrong, twins.betas)
    assert refusal is not None, f"taken, against the rule: {twins.rule}"
    assert twins.told in refusal.message
    assert 400 <= refusal.status < 500
    taken = refusal_of(api, twins.right, twins.betas)
    assert taken is None, f"refused: {taken}"


def without(body: JsonObject, *names: str) -> JsonObject:
    """Return a request without these fields."""
    return {name: value for name, value in body.items() if name not in names}


def schema(**properties: Json) -> JsonObject:
    """Return the schema of an object with these properties."""
    return {"type": "object", "properties": properties}
