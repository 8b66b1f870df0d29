"""The lines of the manifest: our own actions, one line per copy, derived from the journal.

A line belongs to one event and is the same whenever it is made. So a pass that was killed before writing a line writes
it later, and never twice.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from covey.core.delivery import TERMINAL, DeliveryState
from covey.core.event import Action, Event
from covey.core.ids import MessageId, ticket_id
from covey.core.json import Json
from covey.core.layout_dialogue import manifest_line, swept_line
from covey.core.names import AgentName
from covey.core.ticket import TicketState
from covey.ports.folder import Visit
from covey.ports.journal import EventFilter
from covey.services.dialogue import SWEPT
from covey.services.mirror_ground import BY_OTHERS, Ground, copy_of, is_foreign
from covey.services.mirror_standing import Shown, Standing

ENDING: Final = frozenset({Action.DELIVERY_MOVED, Action.TICKET_MOVED})
"""Events after which an agent may have nothing left to do about a message."""

EVENTS: Final = 10_000
"""The number of events per message that are searched."""

Line = tuple[int, str]


async def lines_of(ground: Ground, visit: Visit, events: Sequence[Event], shown: Shown) -> Sequence[Line]:
    """Return the manifest lines for events. Foreign programs write the lines for their own actions."""
    lines: list[Line] = []
    sweeps = {(event.scope, event.at) for event in events if event.action is Action.MESSAGE_SWEPT}
    for event in events:
        if event.action is Action.MESSAGE_SWEPT:
            lines += _swept(event)
        elif event.message_id is None:
            continue
        elif event.action is Action.MESSAGE_SENT:
            for copy in await shown.of(ground, event.message_id):
                if not is_foreign(copy.message) and _is_queued(event, copy):
                    lines.append(await _line(visit, "sent", copy, event, shown))
        elif event.action in ENDING and _is_end(event) and (event.scope, event.at) not in sweeps:
            for copy in await shown.of(ground, event.message_id):
                if copy.agent == event.agent and await _ended_at(ground, copy) == event.position:
                    lines.append(await _line(visit, "archived", copy, event, shown))
    return lines


def _swept(event: Event) -> Sequence[Line]:
    moved = event.details.get("moved")
    if event.scope is None or event.details.get("reason") == BY_OTHERS or not isinstance(moved, int):
        return ()
    return [(event.position, swept_line(event.scope, moved, event.at, event.position))]


async def _line(
    visit: Visit, word: Literal["sent", "archived"], standing: Standing, event: Event, shown: Shown
) -> Line:
    message, agent = standing.message, standing.agent
    copy = shown.copied(standing)
    if copy is None:
        known = next((one for one in await visit.copies(message.id) if one.agent == agent), None)
        copy = await copy_of(visit, message, agent, known, standing.is_only, standing.task)
    return event.position, manifest_line(word, message, copy, event.at, event.position)


def _is_queued(event: Event, copy: Standing) -> bool:
    """Tell whether an agent got a copy when the message was sent."""
    own = {delivery.id for delivery in copy.copies}
    return any(line.get("id") in own and line.get("state") == DeliveryState.QUEUED for line in _lines(event))


def _is_end(event: Event) -> bool:
    """Tell whether an event ends a delivery or a ticket. The effects of a sweep are reported with the sweep."""
    to, reason = event.details.get("to"), event.details.get("reason")
    return event.agent is not None and reason not in (BY_OTHERS, SWEPT) and (to in TERMINAL or to == TicketState.CLOSED)


async def _ended_at(ground: Ground, copy: Standing) -> int | None:
    """Return the position of the event after which an agent had nothing left to do about a message; None if it has, or
    if a foreign program ended it."""
    message_id: MessageId = copy.message.id
    events = await ground.store.read(
        lambda tx: tx.journal.read(0, EVENTS, EventFilter(message_id=message_id)), is_long=True
    )
    own = {str(delivery.id) for delivery in copy.copies}
    ticket: str | None = ticket_id(message_id, copy.agent) if copy.message.expects_reply else None
    return _end(events, own, ticket, copy.agent)


def _end(events: Sequence[Event], own: set[str], ticket: str | None, agent: AgentName) -> int | None:
    if any(event.agent == agent and event.details.get("reason") == BY_OTHERS for event in events):
        return None
    states: dict[str, Json] = {}
    for event in events:
        details = event.details
        if event.action is Action.MESSAGE_SENT:
            states = {str(line.get("id")): line.get("state") for line in _lines(event) if line.get("id") in own}
        elif event.action is Action.DELIVERY_MOVED and details.get("delivery") in own:
            states[str(details["delivery"])] = details.get("to")
        elif event.action is Action.TICKET_MOVED and details.get("ticket") == ticket:
            ticket = None if details.get("to") == TicketState.CLOSED else ticket
        if states and ticket is None and all(state in TERMINAL for state in states.values()):
            return event.position
    return None


def _lines(event: Event) -> Sequence[Mapping[str, Json]]:
    """Return the deliveries listed in an event, if any."""
    listed = event.details.get("deliveries")
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        return ()
    return [line for line in listed if isinstance(line, Mapping)]
