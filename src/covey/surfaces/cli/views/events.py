"""Events of the journal: a document for programs, one line for a person."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from covey.core.json import Json
from covey.core.ledger.event import Action, Event
from covey.core.times import format_instant
from covey.surfaces.cli.terminal.letters import one_line
from covey.surfaces.cli.terminal.output import Output

ACTION_WIDTH: Final = max(len(action) for action in Action)


def event_document(event: Event) -> dict[str, Json]:
    """Return an event as a JSON document."""
    return {
        "position": event.position,
        "at": format_instant(event.at),
        "action": str(event.action),
        "actor": {"agent": event.actor.agent, "session": event.actor.session, "grade": str(event.actor.grade)},
        "message": event.message_id,
        "agent": event.agent,
        "scope": event.scope,
        "details": event.details,
    }


def show_event(output: Output, event: Event) -> None:
    """Write an event: a line of JSON for programs, or a line of fixed columns for people."""
    if output.as_json:
        output.json(event_document(event))
        return
    lead = f"{event.position:>6}  {day_and_time(event.at)}  "
    what = f"{event.action:<{ACTION_WIDTH}}  "
    about = _about(event)
    output.pieces(
        (what, "bold"),
        (str(event.actor), ""),
        (f"  {about}" if about else "", "dim"),
        lead=lead,
        margin=" " * len(lead),
    )


def _about(event: Event) -> str:
    """Return the details of an event without repetition.

    The actor is shown already. The ids of deliveries and tickets begin with the id of their message, which is
    shortened.
    """
    agent = None if event.agent == event.actor.agent else event.agent
    told = _listed({"agent": agent, "scope": event.scope, **event.details})
    if event.message_id is None:
        return told
    return f"message {event.message_id}{', ' if told else ''}{told.replace(event.message_id, '…')}"


def day_and_time(at: datetime) -> str:
    """Return an instant in local time."""
    return f"{at.astimezone():%m-%d %H:%M:%S}"


def _listed(details: Mapping[str, Json]) -> str:
    return ", ".join(f"{name} {_shown(value)}" for name, value in details.items() if value not in (None, [], ""))


def _shown(value: Json) -> str:
    if isinstance(value, Mapping):
        return f"({_listed(value)})"
    if isinstance(value, list | tuple):
        return " ".join(_shown(item) for item in value)
    return one_line(str(value))
