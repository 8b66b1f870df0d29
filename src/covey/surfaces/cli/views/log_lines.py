"""The lines of `covey log`: who acted, a plain word for the event, and the text of its message."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind, Message
from covey.core.names import AgentName, DeliveryId, InboxId, MessageId, delivery_message, is_parked
from covey.core.reporting import counted
from covey.core.work.task import TaskMove, TaskState
from covey.services.space import Services
from covey.surfaces.cli.terminal.layout import LONGEST, cut
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.text import cells, clipped, one_line, printable
from covey.surfaces.cli.views.events import EventNarrator, day_and_time, event_details, items, objects

SAID: Final[Mapping[str, str]] = {
    Kind.REQUEST: "asked",
    Kind.RESPONSE: "answered",
    Kind.NOTIFY: "told",
    Kind.TASK: "delegated",
    Kind.UPDATE: "reported",
}
"""Words for a sent message, by its kind."""

QUOTED: Final = 60
"""Maximum length of a message's text in the line of another event."""

WIDEST_WHO: Final = 24
WIDEST_WORD: Final = 18
"""Maximum widths of the padded columns on a wide terminal. A longer value is not cut: it moves the text."""

_SPOKEN: Final[Mapping[str, str]] = {
    DeliveryState.QUEUED: "queued again",
    DeliveryState.OFFERED: "was shown",
    DeliveryState.IN_CONTEXT: "has read",
    TaskState.WORKING: "started",
    "timed_out": "timed out",
}
"""Plain words for states whose names are terms of the ledger."""


class LogLine(NamedTuple):
    who: str
    """The agent that acted or is concerned; for a message, also its recipients."""
    word: str
    text: str = ""


class LogNarrator:
    """Puts every event of the journal into one line. Records that were pruned are named by their ids."""

    def __init__(self, services: Services) -> None:
        self._records = EventNarrator(services)

    async def line(self, event: Event) -> LogLine:
        """Return the line of an event."""
        return await WORDINGS[event.action](self, event)

    # Each of the following returns the line of one kind of event.

    async def sent(self, event: Event) -> LogLine:
        message = await self._records.message(event.message_id)
        lost = [copy for copy in objects(event.details.get("deliveries")) if copy.get("state") != "queued"]
        fates = [f"{copy.get('state')}: {copy.get('reason') or 'no live session'}" for copy in lost]
        head = "".join(f"({fate}) " for fate in fates)
        if message is None:
            word = SAID.get(str(event.details.get("kind")), "sent")
            return LogLine(event.actor.agent, word, f"{head}message {event.message_id}")
        to = ", ".join(address.value for address in message.to)
        return LogLine(f"{message.sender.agent} → {to}", SAID[message.kind], head + _text(message))

    async def delivery(self, event: Event) -> LogLine:
        agent, name = await self._copy(event.details.get("delivery"))
        state = str(event.details.get("to") or "moved")
        return LogLine(_who(event, agent), _spoken(state), _with(name, event.details.get("reason")))

    async def placed(self, event: Event) -> LogLine:
        agent, name = await self._copy(event.details.get("delivery"))
        word = "mail parked" if is_parked(InboxId(str(event.details.get("inbox")))) else "mail arrived"
        return LogLine(_who(event, agent), word, name)

    async def archived(self, event: Event) -> LogLine:
        return LogLine(_who(event), "archived", await self._own(event))

    async def damaged(self, event: Event) -> LogLine:
        agent, name = await self._copy(event.details.get("delivery"))
        return LogLine(_who(event, agent), "message damaged", _with(name, event.details.get("reason")))

    async def shown(self, event: Event) -> LogLine:
        return LogLine(_who(event), "was shown", await self._list(event))

    async def proven(self, event: Event) -> LogLine:
        basis = f"{event.details.get('grade')}, {one_line(str(event.details.get('basis')))}"
        return LogLine(_who(event), "confirmed", _with(await self._list(event), basis))

    async def question_opened(self, event: Event) -> LogLine:
        debtor, question = await self._question(event)
        return LogLine(debtor, "owes an answer", question)

    async def question_moved(self, event: Event) -> LogLine:
        debtor, question = await self._question(event)
        move = event.details.get("move")
        reason = None if move in ("answer", "archive") else move
        return LogLine(debtor, f"question {event.details.get('to')}", _with(question, reason))

    async def question_troubled(self, event: Event) -> LogLine:
        debtor, question = await self._question(event)
        return LogLine(debtor, f"question {event.details.get('trouble')}", _with(question, "the answer is still owed"))

    async def question_passed(self, event: Event) -> LogLine:
        debtor, question = await self._question(event)
        if event.details.get("awaits") is None:
            return LogLine(debtor, "owes an answer", _with(question, "the question back is settled"))
        return LogLine(debtor, "asked back", _with(question, f"{event.agent} answers first"))

    async def task(self, event: Event) -> LogLine:
        move, state = event.details.get("move"), str(event.details.get("to"))
        word = "reported progress" if move == TaskMove.PROGRESS else f"task {_spoken(state)}"
        return LogLine(_who(event), word, _with(await self._own(event), event.details.get("reason")))

    async def task_claimed(self, event: Event) -> LogLine:
        attempt = event.details.get("attempt")
        return LogLine(_who(event), "took the task", _with(await self._own(event), f"attempt {attempt}"))

    async def task_released(self, event: Event) -> LogLine:
        return LogLine(_who(event), "task released", _with(await self._own(event), "its session has ended"))

    async def _own(self, event: Event) -> str:
        """Return the name of the message of an event, as its agent has it, and the beginning of its text."""
        message_id = event.message_id or MessageId("")
        copies = [copy for copy in await self._records.copies(message_id) if copy.agent == event.agent]
        return await self._name(message_id, copies[0] if copies else None)

    async def _copy(self, delivery_id: Json) -> tuple[AgentName | None, str]:
        """Return the agent of a delivery, and its name with the beginning of the text."""
        wanted = DeliveryId(str(delivery_id))
        message_id = delivery_message(wanted)
        copy = next((copy for copy in await self._records.copies(message_id) if copy.id == wanted), None)
        return (copy.agent if copy else None), await self._name(message_id, copy)

    async def _name(self, message_id: MessageId, copy: DeliveryRecord | None) -> str:
        message = await self._records.message(message_id)
        name = f"{copy.agent}:{copy.number}" if copy and copy.agent and copy.number else f"message {message_id}"
        return f'{name} "{clipped(_text(message), QUOTED)}"' if message and _text(message) else name

    async def _list(self, event: Event) -> str:
        return ", ".join([(await self._copy(item))[1] for item in items(event.details.get("deliveries"))])

    async def _question(self, event: Event) -> tuple[str, str]:
        """Return the agent that owes the answer, and a description of the question."""
        ticket = await self._records.ticket(event.details.get("ticket"))
        if ticket is None:
            return _who(event), f"message {event.message_id}"
        return ticket.debtor, f"{await self._quote(ticket.message_id)} of {ticket.asker}"

    async def _quote(self, message_id: MessageId) -> str:
        message = await self._records.message(message_id)
        text = clipped(_text(message), QUOTED) if message else ""
        return f'"{text}"' if text else f"message {message_id}"


Wording = Callable[[LogNarrator, Event], Awaitable[LogLine]]


def _plain(word: str, *names: str, before: str = "") -> Wording:
    """Return a wording without records: the concerned agent, a word, and these details."""

    async def wording(_: LogNarrator, event: Event) -> LogLine:
        return LogLine(_who(event), word, before + _details(event, names))

    return wording


def _by_actor(word: str, *names: str, before: str = "") -> Wording:
    """Return a wording for an event that concerns more than one agent: the actor, a word, and these details."""

    async def wording(_: LogNarrator, event: Event) -> LogLine:
        return LogLine(event.actor.agent, word, before + _details(event, names))

    return wording


async def _activity(_: LogNarrator, event: Event) -> LogLine:
    return LogLine(_who(event), f"is {event.details.get('activity')}")


async def _left(_: LogNarrator, event: Event) -> LogLine:
    reason = str(event.details.get("reason") or "")
    return LogLine(_who(event), "left", "" if reason == "left" else one_line(reason))


async def _pruned(_: LogNarrator, event: Event) -> LogLine:
    number = event.details.get("messages")
    text = counted(number, "message") if isinstance(number, int) else ""
    return LogLine(event.actor.agent, "pruned", f"{text} of {event.scope}" if event.scope else text)


async def _post(_: LogNarrator, event: Event) -> LogLine:
    details = event.details
    word = "deferred" if details.get("move") == "defer" else str(details.get("to"))
    return LogLine(_who(event), f"post {word}", _with(one_line(str(details.get("conversation"))), details.get("error")))


async def _run(_: LogNarrator, event: Event) -> LogLine:
    state = _spoken(str(event.details.get("to")))
    return LogLine(_who(event), f"child {state}", one_line(str(event.details.get("reason") or "")))


def _pause(word: str) -> Wording:
    async def wording(_: LogNarrator, event: Event) -> LogLine:
        return LogLine(event.agent or "the space", word, _details(event, ("reason",)))

    return wording


WORDINGS: Final[Mapping[Action, Wording]] = {
    Action.AGENT_REGISTERED: _plain("was registered", "description"),
    Action.AGENT_STATUS: _plain("set its status", "status"),
    Action.SESSION_JOINED: _plain("joined", "key"),
    Action.SESSION_ACTIVITY: _activity,
    Action.SESSION_ENDED: _left,
    Action.MESSAGE_SENT: LogNarrator.sent,
    Action.MESSAGE_DAMAGED: LogNarrator.damaged,
    Action.MESSAGE_SWEPT: _by_actor("swept", "scope"),
    Action.MESSAGES_PRUNED: _pruned,
    Action.SPACE_IMPORTED: _by_actor("imported", "exported_at", before="an export of "),
    Action.SPACE_RESTORED: _by_actor("restored", "made_at", before="a backup of "),
    Action.DELIVERY_MOVED: LogNarrator.delivery,
    Action.DELIVERY_PLACED: LogNarrator.placed,
    Action.DELIVERY_ARCHIVED: LogNarrator.archived,
    Action.OFFER_MADE: LogNarrator.shown,
    Action.OFFER_RENEWED: _plain("renewed its lease", before="of the messages that it was shown"),
    Action.OFFER_ENDED: _plain("offer ended", "reason"),
    Action.EVIDENCE: LogNarrator.proven,
    Action.TICKET_OPENED: LogNarrator.question_opened,
    Action.TICKET_MOVED: LogNarrator.question_moved,
    Action.TICKET_TROUBLED: LogNarrator.question_troubled,
    Action.TICKET_PASSED: LogNarrator.question_passed,
    Action.TASK_MOVED: LogNarrator.task,
    Action.TASK_CLAIMED: LogNarrator.task_claimed,
    Action.TASK_RELEASED: LogNarrator.task_released,
    Action.POST_MOVED: _post,
    Action.CHANNEL_BOUND: _plain("conversation bound", "conversation", "to"),
    Action.CHANNEL_UNBOUND: _plain("conversation unbound", "conversation", "to"),
    Action.SPAWN_STAGE: _plain("child prepared", "stage"),
    Action.SPAWN_UNDONE: _plain("child undone", "stage"),
    Action.RUN_MOVED: _run,
    Action.RUN_STOPPING: _plain("child stopping", "reason"),
    Action.RUN_TOLD: _plain("child reported", before="the parent was told of its end"),
    Action.RUN_CLEARED: _plain("child removed", before="its folder is gone"),
    Action.GATE_FORCED: _by_actor("forced the gate", "scope", "why"),
    Action.STORM_STOPPED: _plain("was stopped", "refusal"),
    Action.STORM_LIFTED: _by_actor("lifted a stop", "messages", before="messages so far: "),
    Action.PAUSE_BEGUN: _pause("paused"),
    Action.PAUSE_ENDED: _pause("resumed"),
    Action.TOKEN_CREATED: _plain("got a token", "token", "note"),
    Action.TOKEN_REVOKED: _plain("token revoked", "token"),
    Action.SETTING_CHANGED: _by_actor("changed a setting", "setting", "value"),
    Action.SPACE_MENDED: _by_actor("repaired", "what"),
}
"""The wording of every action of the journal."""


class LogTable:
    """Writes the lines of a log under each other. The columns grow with the lines that were written before."""

    def __init__(self, output: Output, now: datetime, *, with_ids: bool) -> None:
        self._output = output
        self._today = now.astimezone().date()
        self._with_ids = with_ids
        self._has_days = with_ids
        self._who = self._word = 0

    def write(self, events: Sequence[Event], lines: Sequence[LogLine]) -> None:
        """Write events with their lines."""
        self._has_days = self._has_days or any(event.at.astimezone().date() != self._today for event in events)
        width = self._output.width
        told = [line._replace(who=printable(line.who), word=printable(line.word)) for line in lines]
        for line in told:
            self._who = max(self._who, _within(line.who, min(WIDEST_WHO, width // 5)))
            self._word = max(self._word, _within(line.word, min(WIDEST_WORD, width // 5)))
        for event, line in zip(events, told, strict=True):
            self._write(event, line)

    def _write(self, event: Event, line: LogLine) -> None:
        at = day_and_time(event.at) if self._has_days else f"{event.at.astimezone():%H:%M:%S}"
        head = f"{event.position:>6}  {at}  " if self._with_ids else f"{at}  "
        who = (_padded(line.who, self._who), "cyan")
        word = (_padded(line.word, self._word), self._output.style(line.word) or "bold")
        text = clipped(one_line(line.text), LONGEST)
        if self._with_ids:
            ids = f"  [{'; '.join(filter(None, (f'{event.action} by {event.actor}', event_details(event))))}]"
            self._output.pieces(who, word, (text, ""), (ids, "dim"), lead=head, margin=" " * len(head))
            return
        pieces = cut(((head, "dim"), who, word, (text, "")), self._output.width)
        *others, (last, style) = pieces
        self._output.pieces(*others, (last.rstrip(), style))


def _within(text: str, widest: int) -> int:
    """Return the width of a text, or 0 if it is too wide to pad others to."""
    width = cells(text)
    return width if width <= widest else 0


def _padded(text: str, width: int) -> str:
    return text + " " * (max(0, width - cells(text)) + 2)


def _who(event: Event, agent: AgentName | None = None) -> str:
    """Return the agent that an event concerns, or its actor."""
    return agent or event.agent or event.actor.agent


def _with(text: str, reason: Json) -> str:
    return f"{text}: {one_line(str(reason))}" if reason else text


def _spoken(state: str) -> str:
    return _SPOKEN.get(state, state)


def _text(message: Message) -> str:
    return one_line(message.text) or one_line(message.subject or "")


def _details(event: Event, names: Sequence[str]) -> str:
    """Return the named details of an event that it has."""
    known: dict[str, Json] = {"scope": event.scope, **event.details}
    return ": ".join(one_line(str(known[name])) for name in names if known.get(name) not in (None, "", 0))
