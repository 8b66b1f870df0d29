"""The card of an agent that joins, as the options of a verb want it."""

from collections.abc import Mapping

from covey.core.card import Card, encode_card, parse_card
from covey.core.errors import NotFound
from covey.core.json import Json
from covey.core.names import AgentName
from covey.surfaces.cli.call import Call


def card_with(call: Call, name: AgentName | None, **given: Json) -> Card | None:
    """Return the agent's card with what was given; None where nothing was."""
    changes = {field: value for field, value in given.items() if value is not None}
    if not changes:
        return None
    try:
        card = call.run(call.services.directory.agent(name)).card if name else Card()
    except NotFound:
        card = Card()
    known = encode_card(card)
    for field, value in changes.items():
        now = known[field]
        known[field] = {**now, **value} if isinstance(now, Mapping) and isinstance(value, Mapping) else value
    return parse_card(known)
