"""Telling: each event of the journal as a word and a sentence, for a person who watches."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar, cast

from covey.core.errors import NotFound
from covey.core.ids import DeliveryId, InboxId, MessageId, TicketId, delivery_message, is_parked
from covey.core.json import Json
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket
from covey.core.names import AgentName
from covey.services.space import Services
from covey.surfaces.cli.terminal.letters import one_line
from covey.surfaces.cli.views.headline import about

T = TypeVar("T")


class Told(NamedTuple):
    """One line: a word for the event, and a text with its subject."""

    word: str
    text: str


class Teller:
    """Tells events of a space with the records that they refer to. Pruned records are left out."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def tell(self, event: Event) -> Sequence[Told]:
        """Return the lines of an event. There are none if another event has the same content."""
        if event.action in SILENT:
            return ()
        return await _TELLINGS.get(event.action, _of_agent(event.action, *event.details))(self, event)

    async def concerns(self, event: Event, agent: AgentName) -> bool:
        """Return True if an event concerns an agent: as the actor, or as sender or recipient of its message."""
        if agent in (event.actor.agent, event.agent):
            return True
        for message_id in _messages_of(event):
            message = await self.message(message_id)
            if message is not None and message.sender.agent == agent:
                return True
            if event.action is Action.MESSAGE_SENT and any(d.agent == agent for d in await self._copies(message_id)):
                return True
        return False

    async def message(self, message_id: MessageId | None) -> Message | None:
        """Return a message, or None if it does not exist."""
        return None if message_id is None else await _found(self._services.mail.message(message_id))

    async def _copies(self, message_id: MessageId) -> Sequence[Delivery]:
        receipt = await _found(self._services.mail.receipt(message_id))
        return receipt.deliveries if receipt else ()

    async def _copy(self, delivery_id: Json) -> str:
        """Return the short name of a delivery: its agent, and its number there."""
        wanted = DeliveryId(str(delivery_id))
        for copy in await self._copies(delivery_message(wanted)):
            if copy.id == wanted:
                return f"{copy.agent or '?'} #{copy.number}"
        return wanted

    async def _ticket(self, ticket_id: Json) -> Ticket | None:
        return await _found(self._services.dialogue.ticket(TicketId(str(ticket_id))))

    async def _debt(self, ticket_id: Json) -> str:
        ticket = await self._ticket(ticket_id)
        return f"{ticket.debtor}'s answer to {ticket.asker}" if ticket else str(ticket_id)

    async def sent(self, event: Event) -> Sequence[Told]:
        message = await self.message(event.message_id)
        if message is None:
            return (Told(str(event.details.get("kind")), f"{event.actor}: {event.message_id}"),)
        to = ", ".join(address.value for address in message.to)
        topic = about(message)
        head = f"{message.sender} → {to}{f' [{topic}]' if topic else ''}"
        said = Told(message.kind, f"{head}: {one_line(message.text)}")
        kept_out = [d for d in _objects(event.details.get("deliveries")) if d.get("state") != "queued"]
        return said, *[
            Told(str(d["state"]), f"{await self._copy(d['id'])}: {d.get('reason') or 'nobody is there'}")
            for d in kept_out
        ]

    async def moved(self, event: Event) -> Sequence[Told]:
        reason = event.details.get("reason")
        copy = await self._copy(event.details["delivery"])
        return (Told(str(event.details["to"]), f"{copy}{f': {reason}' if reason else ''}"),)

    async def placed(self, event: Event) -> Sequence[Told]:
        inbox = InboxId(str(event.details["inbox"]))
        copy = await self._copy(event.details["delivery"])
        return (Told("queued", f"{copy}: {'parked' if is_parked(inbox) else 'now with a live session'}"),)

    async def archived(self, event: Event) -> Sequence[Told]:
        copies = [d for d in await self._copies(MessageId(event.message_id or "")) if d.agent == event.agent]
        return (Told("archived", f"{event.agent} #{copies[0].number}" if copies else f"{event.message_id}"),)

    async def offered(self, event: Event) -> Sequence[Told]:
        copies = [await self._copy(d) for d in _items(event.details["deliveries"])]
        return (Told("offered", ", ".join(copies)),)

    async def task_moved(self, event: Event) -> Sequence[Told]:
        details = event.details
        word = "progress" if details.get("move") == "progress" else str(details.get("to"))
        reason = details.get("reason")
        return (Told(word, f"{await self._task(event)}{f': {one_line(str(reason))}' if reason else ''}"),)

    async def task_claimed(self, event: Event) -> Sequence[Told]:
        return (Told("taken", f"{await self._task(event)}, attempt {event.details.get('attempt')}"),)

    async def task_released(self, event: Event) -> Sequence[Told]:
        return (Told("released", f"{await self._task(event)}: its session has ended"),)

    async def _task(self, event: Event) -> str:
        copies = [d for d in await self._copies(MessageId(event.message_id or "")) if d.agent == event.agent]
        return f"task {event.agent}:{copies[0].number}" if copies else f"task {event.message_id}"

    async def posted(self, event: Event) -> Sequence[Told]:
        details = event.details
        where = f"{event.agent} {details.get('conversation') or ''}".rstrip()
        word = "deferred" if details["move"] == "defer" else str(details["to"])
        error = details.get("error")
        return (Told(word, f"{where}: {one_line(str(error))}" if error else where),)

    async def debt_moved(self, event: Event) -> Sequence[Told]:
        reason = "" if event.details["move"] == "answer" else f": {event.details['move']}"
        return (Told(str(event.details["to"]), f"{await self._debt(event.details['ticket'])}{reason}"),)

    async def debt_troubled(self, event: Event) -> Sequence[Told]:
        return (Told(str(event.details["trouble"]), f"{await self._debt(event.details['ticket'])}: it stays owed"),)

    async def debt_opened(self, event: Event) -> Sequence[Told]:
        return (Told("owed", await self._debt(event.details["ticket"])),)

    async def debt_passed(self, event: Event) -> Sequence[Told]:
        debt = await self._debt(event.details["ticket"])
        if event.details.get("awaits") is None:
            return (Told("owed", f"{debt}: the question back is settled"),)
        return (Told("waits", f"{debt}: {event.agent} has a question to answer first"),)


def _of_agent(word: str, *names: str) -> "Telling":
    """Return a telling for an action of an agent or its session, with these details."""

    async def tell(_: Teller, event: Event) -> Sequence[Told]:
        details = ", ".join(one_line(str(event.details[name])) for name in names if event.details.get(name))
        return (Told(word, f"{event.agent or event.actor}{f': {details}' if details else ''}"),)

    return tell


def _of_scope(word: str, *names: str) -> "Telling":
    """Return a telling for an action on a whole scope."""

    async def tell(_: Teller, event: Event) -> Sequence[Told]:
        details = ", ".join(f"{name} {one_line(str(event.details.get(name)))}" for name in names)
        return (Told(word, f"{event.scope} by {event.actor}: {details}"),)

    return tell


async def _activity(_: Teller, event: Event) -> Sequence[Told]:
    return (Told(str(event.details["activity"]), f"{event.agent}"),)


Telling = Callable[[Teller, Event], Awaitable[Sequence[Told]]]

_TELLINGS: Final[Mapping[Action, Telling]] = {
    Action.AGENT_REGISTERED: _of_agent("registered", "description"),
    Action.AGENT_STATUS: _of_agent("status", "status"),
    Action.SESSION_JOINED: _of_agent("joined", "key"),
    Action.SESSION_ACTIVITY: _activity,
    Action.SESSION_ENDED: _of_agent("left", "key", "reason"),
    Action.MESSAGE_SENT: Teller.sent,
    Action.MESSAGE_SWEPT: _of_scope("swept", "moved"),
    Action.DELIVERY_MOVED: Teller.moved,
    Action.DELIVERY_PLACED: Teller.placed,
    Action.DELIVERY_ARCHIVED: Teller.archived,
    Action.OFFER_MADE: Teller.offered,
    Action.TICKET_OPENED: Teller.debt_opened,
    Action.TICKET_MOVED: Teller.debt_moved,
    Action.TICKET_TROUBLED: Teller.debt_troubled,
    Action.TICKET_PASSED: Teller.debt_passed,
    Action.TASK_MOVED: Teller.task_moved,
    Action.TASK_CLAIMED: Teller.task_claimed,
    Action.TASK_RELEASED: Teller.task_released,
    Action.POST_MOVED: Teller.posted,
    Action.CHANNEL_BOUND: _of_agent("bound", "conversation", "to"),
    Action.CHANNEL_UNBOUND: _of_agent("unbound", "conversation", "to"),
    Action.GATE_FORCED: _of_scope("forced", "why"),
    Action.TOKEN_CREATED: _of_agent("token", "token", "note"),
    Action.TOKEN_REVOKED: _of_agent("revoked", "token"),
    Action.SETTING_CHANGED: _of_agent("setting", "setting", "value"),
    Action.SPACE_MENDED: _of_agent("mended", "finding", "what"),
}

SILENT: Final = frozenset({Action.OFFER_RENEWED, Action.OFFER_ENDED, Action.EVIDENCE})
"""Events that are not told: their effect on a delivery is an event of its own."""


def _messages_of(event: Event) -> Sequence[MessageId]:
    if event.message_id is not None:
        return (event.message_id,)
    return [delivery_message(DeliveryId(str(d))) for d in _items(event.details.get("deliveries"))]


def _items(value: Json) -> Sequence[Json]:
    return cast(Sequence[Json], value) if isinstance(value, list | tuple) else ()


def _objects(value: Json) -> Sequence[Mapping[str, Json]]:
    return [item for item in _items(value) if isinstance(item, Mapping)]


async def _found(work: Awaitable[T]) -> T | None:
    try:
        return await work
    except NotFound:
        return None
