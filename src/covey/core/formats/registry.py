"""The registry of the mailbox layout: an entry for each agent, with its card and its present state."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from covey.core.directory.card import ANYONE, Card, Presence
from covey.core.errors import Invalid
from covey.core.formats.foreign_files import count_of, instant_of, text_in
from covey.core.formats.foreign_ids import agent_of
from covey.core.json import Json
from covey.core.times import format_instant

# A foreign card over these limits is cut and not refused.
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
    """Return an agent's entry for the registry: its configuration and its present state. Readers compute with the last
    heartbeat, so every entry has one: for an agent without a heartbeat, the time of registration."""
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
    """Return the card in a registry entry of a foreign program. Fields that can't be parsed are left out; raise Invalid
    if the entry is no object."""
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
    """Return the presence in an entry; idle if it is missing or unknown."""
    said = text_in(entry, "status") if isinstance(entry, Mapping) else None
    return Presence(said) if said in set(Presence) else Presence.IDLE


def heard_at(entry: Json) -> datetime | None:
    """Return the time of the last heartbeat in an entry, or None."""
    return instant_of(entry.get("last_heartbeat")) if isinstance(entry, Mapping) else None
