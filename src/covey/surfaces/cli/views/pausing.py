"""Pauses, for people and programs."""

from covey.core.directory.pause import Pause
from covey.core.json import Json
from covey.core.times import format_instant


def told_pause(pause: Pause) -> str:
    """Return the originator and the reason of a pause."""
    return f"paused by {pause.by}: {pause.reason}" if pause.reason else f"paused by {pause.by}"


def pause_document(pause: Pause) -> dict[str, Json]:
    """Return a pause as a JSON document."""
    return {"by": pause.by, "at": format_instant(pause.at), "reason": pause.reason}
