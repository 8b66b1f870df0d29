"""Checked arguments of the mailbox API: registry entries and messages with their defaults, and names."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast

from covey.core.errors import Invalid
from covey.core.formats.foreign_ids import is_folder_name
from covey.core.formats.mailbox import ENDING
from covey.core.formats.mailbox_document import FIRST_STATE, TYPES
from covey.core.limits import INITIAL_HOPS
from covey.core.times import format_instant

STATUSES: Final = ("idle", "busy", "offline")
DEFAULT_QUOTA: Final = 3

Fields = dict[str, Any]
"""The fields of an entry or a message, as JSON data."""


def whole_entry(agent_id: str, card: object, now: datetime) -> Fields:
    """Return a registry entry for a card, with defaults for missing fields."""
    given = _mapping("card", card)
    at = format_instant(now)
    usual: Fields = {
        "agent_id": agent_id,
        "description": "",
        "capabilities": [],
        "status": STATUSES[0],
        "allow_from": ["*"],
        "max_concurrent_tasks": DEFAULT_QUOTA,
        "current_tasks": [],
        "registered_at": at,
        "last_heartbeat": at,
    }
    entry = {**usual, **given, "agent_id": agent_id}
    check_status(entry["status"])
    return entry | {field: names(field, entry[field]) for field in ("capabilities", "allow_from", "current_tasks")}


def whole_message(message_id: str, from_id: str, to_id: str, msg: object, now: datetime) -> Fields:
    """Return a message with defaults for the fields that its sender left out."""
    given = _mapping("message", msg)
    kind = given.get("type", "message")
    if kind not in TYPES.values():
        raise Invalid("type", kind, "use message, task or task_update")
    usual: Fields = {
        "id": message_id,
        "from": from_id,
        "to": to_id,
        "timestamp": format_instant(now),
        "type": kind,
        "ttl": INITIAL_HOPS,
        "trace": [from_id],
        "task": {"id": message_id, "state": FIRST_STATE, "deadline": None} if kind == "task" else None,
        "content": {"parts": []},
        "callback": {},
        "reply_to": None,
        "metadata": {},
    }
    message = {**usual, **given, "from": from_id, "to": to_id}
    message.pop("filename", None)  # a message that is passed on as it was polled has the name of its old file
    return message


def check_agent(agent_id: object) -> None:
    """Raise Invalid if an agent id can't be the name of a folder."""
    if not isinstance(agent_id, str) or not is_folder_name(agent_id):
        raise Invalid("agent id", agent_id, "use the name of one folder, without a leading dot")


def check_file(filename: object) -> None:
    """Raise Invalid if a file name can't be that of a message."""
    if not isinstance(filename, str) or not is_folder_name(filename) or not filename.endswith(ENDING):
        raise Invalid("file name", filename, "use the name that poll gave")


def check_status(status: object) -> None:
    """Raise Invalid for an unknown status."""
    if status not in STATUSES:
        raise Invalid("status", status, "use idle, busy or offline")


def names(what: str, value: object) -> list[str]:
    """Return a list of texts. Raise Invalid for anything else."""
    given = cast(Sequence[object], value) if isinstance(value, list | tuple) else (None,)
    texts = [name for name in given if isinstance(name, str)]
    if len(texts) < len(given):
        raise Invalid(what, cast(object, value), "use a list of texts")
    return texts


def _mapping(what: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Invalid(what, value, "use a mapping")
    return cast(Mapping[str, Any], value)
