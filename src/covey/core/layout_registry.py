"""The registry of the mailbox layout: an entry for each agent, with its card and how it is now."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from covey.core.card import ANYONE, Card, Presence
from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.layout_ids import agent_of
from covey.core.layout_reading import count_of, instant_of, text_in
from covey.core.times import format_instant

# A card has limits. What a foreign one has beyond them is not worth refusing it.
_DESCRIPTION_CHARS = 4_000
_CAPABILITIES = 100
_CAPABILITY_CHARS = 200
_ALLOWED = 500


def entry_of(
    name: str,
    card: Card,
    presence: Presence,
    current_tasks: Sequence[str],
    registered_at: datetime,
    last_heartbeat: datetime,
) -> dict[str, Json]:
    """Return an agent as the registry has it: what its owner configured, and what is so now. Readers count from the
    last heartbeat, so that there is always one: of an agent that never said anything, when it was registered."""
    return {
        "agent_id": name,
        "description": card.description,
        "capabilities": list(card.capabilities),
        "status": str(presence),
        "allow_from": list(card.allow_from),
        "max_concurrent_tasks": card.quota,
        "current_tasks": list(current_tasks),
        "registered_at": format_instant(registered_at),
        "last_heartbeat": format_instant(last_heartbeat),
    }


def card_of(entry: Json) -> Card:
    """Return the card in an entry of the registry that a foreign program made. What is in no form that we know is left
    out; what is no object is Invalid."""
    if not isinstance(entry, Mapping):
        raise Invalid("registry entry", entry, "use an object")
    blank = Card()
    allowed = entry.get("allow_from")
    quota = count_of(entry.get("max_concurrent_tasks"))
    return Card(
        description=_printable(text_in(entry, "description") or "")[:_DESCRIPTION_CHARS],
        capabilities=tuple(
            _printable(word)[:_CAPABILITY_CHARS] for word in _texts(entry.get("capabilities"))[:_CAPABILITIES]
        ),
        allow_from=blank.allow_from if not isinstance(allowed, list) else tuple(_allowed(_texts(allowed))),
        quota=blank.quota if quota is None else quota,
    )


def _allowed(names: Iterable[str]) -> Iterable[str]:
    known = dict.fromkeys(ANYONE if name == ANYONE else agent_of(name) for name in names)
    return (ANYONE,) if ANYONE in known else tuple(known)[:_ALLOWED]


def _texts(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _printable(text: str) -> str:
    return "".join(c for c in text if (c >= " " or c in "\n\t") and not "\ud800" <= c <= "\udfff")


def status_in(entry: Json) -> Presence:
    """Return the presence in an entry; idle if the entry has none, or one that is unknown here."""
    said = text_in(entry, "status") if isinstance(entry, Mapping) else None
    return Presence(said) if said in set(Presence) else Presence.IDLE


def heard_at(entry: Json) -> datetime | None:
    """Return when the agent of an entry last said that it is there."""
    return instant_of(entry.get("last_heartbeat")) if isinstance(entry, Mapping) else None
