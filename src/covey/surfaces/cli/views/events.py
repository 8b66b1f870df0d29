"""Events of the journal: a document for programs, and lines for a person who watches. The lines of `covey log` are in
`log_lines`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeVar, cast

from covey.core.errors import NotFound
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket
from covey.core.names import AgentName, DeliveryId, InboxId, MessageId, TicketId, delivery_message, is_parked
from covey.core.times import format_instant
from covey.services.space import Services
from covey.surfaces.cli.terminal.text import one_line
from covey.surfaces.cli.views.messages import about


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


def event_details(event: Event) -> str:
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


T = TypeVar("T")


class EventLine(NamedTuple):
    """One line: a word for the event, and a text with its subject."""

    word: str
    text: str


class EventNarrator:
    """Puts events of a space into words, with the records that they refer to. Pruned records are left out."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def narrate(self, event: Event) -> Sequence[EventLine]:
        """Return the lines of an event. There are none if another event has the same content."""
        if event.action in SILENT:
            return ()
        return await _NARRATIONS.get(event.action, _of_agent(event.action, *event.details))(self, event)

    async def concerns(self, event: Event, agent: AgentName) -> bool:
        """Return True if an event concerns an agent: as the actor, or as sender or recipient of its message."""
        if agent in (event.actor.agent, event.agent):
            return True
        for message_id in _messages_of(event):
            message = await self.message(message_id)
            if message is not None and message.sender.agent == agent:
                return True
            if event.action is Action.MESSAGE_SENT and any(d.agent == agent for d in await self.copies(message_id)):
                return True
        return False

    async def message(self, message_id: MessageId | None) -> Message | None:
        """Return a message, or None if it does not exist."""
        return None if message_id is None else await _found(self._services.mail.message(message_id))

    async def copies(self, message_id: MessageId) -> Sequence[DeliveryRecord]:
        """Return the copies of a message; none if the message does not exist."""
        receipt = await _found(self._services.mail.receipt(message_id))
        return receipt.deliveries if receipt is not None else ()

    async def _copy(self, delivery_id: Json) -> str:
        """Return the short name of a delivery: its agent, and its number there."""
        wanted = DeliveryId(str(delivery_id))
        for copy in await self.copies(delivery_message(wanted)):
            if copy.id == wanted:
                return f"{copy.agent or '?'} #{copy.number}"
        return wanted

    async def ticket(self, ticket_id: Json) -> Ticket | None:
        """Return a ticket, or None if it does not exist."""
        return await _found(self._services.dialogue.ticket(TicketId(str(ticket_id))))

    async def _debt(self, ticket_id: Json) -> str:
        ticket = await self.ticket(ticket_id)
        return f"{ticket.debtor}'s answer to {ticket.asker}" if ticket else str(ticket_id)

    async def sent(self, event: Event) -> Sequence[EventLine]:
        message = await self.message(event.message_id)
        if message is None:
            return (EventLine(str(event.details.get("kind")), f"{event.actor}: {event.message_id}"),)
        to = ", ".join(address.value for address in message.to)
        topic = about(message)
        head = f"{message.sender} → {to}{f' [{topic}]' if topic else ''}"
        said = EventLine(message.kind, f"{head}: {one_line(message.text)}")
        kept_out = [d for d in objects(event.details.get("deliveries")) if d.get("state") != "queued"]
        return said, *[
            EventLine(str(d["state"]), f"{await self._copy(d['id'])}: {d.get('reason') or 'nobody is there'}")
            for d in kept_out
        ]

    async def moved(self, event: Event) -> Sequence[EventLine]:
        reason = event.details.get("reason")
        copy = await self._copy(event.details["delivery"])
        return (EventLine(str(event.details["to"]), f"{copy}{f': {reason}' if reason else ''}"),)

    async def placed(self, event: Event) -> Sequence[EventLine]:
        inbox = InboxId(str(event.details["inbox"]))
        copy = await self._copy(event.details["delivery"])
        return (EventLine("queued", f"{copy}: {'parked' if is_parked(inbox) else 'now with a live session'}"),)

    async def archived(self, event: Event) -> Sequence[EventLine]:
        copies = [d for d in await self.copies(MessageId(event.message_id or "")) if d.agent == event.agent]
        return (EventLine("archived", f"{event.agent} #{copies[0].number}" if copies else f"{event.message_id}"),)

    async def offered(self, event: Event) -> Sequence[EventLine]:
        copies = [await self._copy(d) for d in items(event.details["deliveries"])]
        return (EventLine("offered", ", ".join(copies)),)

    async def task_moved(self, event: Event) -> Sequence[EventLine]:
        details = event.details
        word = "progress" if details.get("move") == "progress" else str(details.get("to"))
        reason = details.get("reason")
        return (EventLine(word, f"{await self._task(event)}{f': {one_line(str(reason))}' if reason else ''}"),)

    async def task_claimed(self, event: Event) -> Sequence[EventLine]:
        return (EventLine("taken", f"{await self._task(event)}, attempt {event.details.get('attempt')}"),)

    async def task_released(self, event: Event) -> Sequence[EventLine]:
        return (EventLine("released", f"{await self._task(event)}: its session has ended"),)

    async def _task(self, event: Event) -> str:
        copies = [d for d in await self.copies(MessageId(event.message_id or "")) if d.agent == event.agent]
        return f"task {event.agent}:{copies[0].number}" if copies else f"task {event.message_id}"

    async def posted(self, event: Event) -> Sequence[EventLine]:
        details = event.details
        where = f"{event.agent} {details.get('conversation') or ''}".rstrip()
        word = "deferred" if details["move"] == "defer" else str(details["to"])
        error = details.get("error")
        return (EventLine(word, f"{where}: {one_line(str(error))}" if error else where),)

    async def debt_moved(self, event: Event) -> Sequence[EventLine]:
        reason = "" if event.details["move"] == "answer" else f": {event.details['move']}"
        return (EventLine(str(event.details["to"]), f"{await self._debt(event.details['ticket'])}{reason}"),)

    async def debt_troubled(self, event: Event) -> Sequence[EventLine]:
        return (
            EventLine(str(event.details["trouble"]), f"{await self._debt(event.details['ticket'])}: it stays owed"),
        )

    async def debt_opened(self, event: Event) -> Sequence[EventLine]:
        return (EventLine("owed", await self._debt(event.details["ticket"])),)

    async def debt_passed(self, event: Event) -> Sequence[EventLine]:
        debt = await self._debt(event.details["ticket"])
        if event.details.get("awaits") is None:
            return (EventLine("owed", f"{debt}: the question back is settled"),)
        return (EventLine("waits", f"{debt}: {event.agent} has a question to answer first"),)


def _of_agent(word: str, *names: str) -> "Narration":
    """Return a narration for an action of an agent or its session, with these details."""

    async def narrate(_: EventNarrator, event: Event) -> Sequence[EventLine]:
        details = ", ".join(one_line(str(event.details[name])) for name in names if event.details.get(name))
        return (EventLine(word, f"{event.agent or event.actor}{f': {details}' if details else ''}"),)

    return narrate


def _of_scope(word: str, *names: str) -> "Narration":
    """Return a narration for an action on a whole scope."""

    async def narrate(_: EventNarrator, event: Event) -> Sequence[EventLine]:
        details = ", ".join(f"{name} {one_line(str(event.details.get(name)))}" for name in names)
        return (EventLine(word, f"{event.scope} by {event.actor}: {details}"),)

    return narrate


async def _activity(_: EventNarrator, event: Event) -> Sequence[EventLine]:
    return (EventLine(str(event.details["activity"]), f"{event.agent}"),)


Narration = Callable[[EventNarrator, Event], Awaitable[Sequence[EventLine]]]

_NARRATIONS: Final[Mapping[Action, Narration]] = {
    Action.AGENT_REGISTERED: _of_agent("registered", "description"),
    Action.AGENT_STATUS: _of_agent("status", "status"),
    Action.SESSION_JOINED: _of_agent("joined", "key"),
    Action.SESSION_ACTIVITY: _activity,
    Action.SESSION_ENDED: _of_agent("left", "key", "reason"),
    Action.MESSAGE_SENT: EventNarrator.sent,
    Action.MESSAGE_SWEPT: _of_scope("swept", "moved"),
    Action.DELIVERY_MOVED: EventNarrator.moved,
    Action.DELIVERY_PLACED: EventNarrator.placed,
    Action.DELIVERY_ARCHIVED: EventNarrator.archived,
    Action.OFFER_MADE: EventNarrator.offered,
    Action.TICKET_OPENED: EventNarrator.debt_opened,
    Action.TICKET_MOVED: EventNarrator.debt_moved,
    Action.TICKET_TROUBLED: EventNarrator.debt_troubled,
    Action.TICKET_PASSED: EventNarrator.debt_passed,
    Action.TASK_MOVED: EventNarrator.task_moved,
    Action.TASK_CLAIMED: EventNarrator.task_claimed,
    Action.TASK_RELEASED: EventNarrator.task_released,
    Action.POST_MOVED: EventNarrator.posted,
    Action.CHANNEL_BOUND: _of_agent("bound", "conversation", "to"),
    Action.CHANNEL_UNBOUND: _of_agent("unbound", "conversation", "to"),
    Action.GATE_FORCED: _of_scope("forced", "why"),
    Action.TOKEN_CREATED: _of_agent("token", "token", "note"),
    Action.TOKEN_REVOKED: _of_agent("revoked", "token"),
    Action.SETTING_CHANGED: _of_agent("setting", "setting", "value"),
    Action.SPACE_MENDED: _of_agent("mended", "finding", "what"),
}

SILENT: Final = frozenset({Action.OFFER_RENEWED, Action.OFFER_ENDED, Action.EVIDENCE})
"""Events that are not narrated: their effect on a delivery is an event of its own."""


def _messages_of(event: Event) -> Sequence[MessageId]:
    if event.message_id is not None:
        return (event.message_id,)
    return [delivery_message(DeliveryId(str(d))) for d in items(event.details.get("deliveries"))]


def items(value: Json) -> Sequence[Json]:
    """Return the items of a list in an event's details; none if it is no list."""
    return cast(Sequence[Json], value) if isinstance(value, list | tuple) else ()


def objects(value: Json) -> Sequence[Mapping[str, Json]]:
    """Return the objects of a list in an event's details."""
    return [item for item in items(value) if isinstance(item, Mapping)]


async def _found(work: Awaitable[T]) -> T | None:
    try:
        return await work
    except NotFound:
        return None
