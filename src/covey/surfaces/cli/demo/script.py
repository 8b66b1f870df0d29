"""The script and the transcript of the demo: players, acts and topics, and each event of the journal as a line or two.

Only the texts are invented; the states come from the ledger."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from covey.core.json import Json
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind, Message
from covey.core.names import MessageId

LEAD: Final = "lead"
CODER: Final = "coder"
FIXER: Final = "fixer"
CRITIC: Final = "critic"
GUIDE: Final = "guide"
MAKER: Final = "maker"
CHAT: Final = "chat"
"""The channel through which a person talks to the guide; it has no process of its own."""

CAST: Final = {
    LEAD: "assigns tasks and commits them",
    CODER: "a worker",
    FIXER: "another worker",
    CRITIC: "reviews what the workers did",
    GUIDE: "talks to people, and lets others do the work",
    MAKER: "takes tasks and does them",
}
"""Every player, with the description on its card."""

RESOLVED: Final = "M001-S001-T0001"
STALLED: Final = "M001-S001-T0002"
RELEASE: Final = "release-1"
CONVERSATION: Final = "user_123"
QUESTION: Final = "Write me a function that sorts files by time."


class DemoAct(NamedTuple):
    cue: str
    """The cue for the lead."""
    scope: str | None
    title: str


ACTS: Final = (
    DemoAct("resolve", RESOLVED, "A question is answered, and the task is committed"),
    DemoAct("stall", STALLED, "An answer misses the point, and the commit is refused"),
    DemoAct("survive", RELEASE, "Whoever was asked is killed, and the question survives"),
)
HANDOVER: Final = "A person asks, one agent hands the work on, the result comes back"

WIDTH: Final = 80
MARGIN: Final = " " * 19
COLOURS: Final = {
    LEAD: "bold magenta",
    CODER: "bold blue",
    FIXER: "bold cyan",
    CRITIC: "bold yellow",
    GUIDE: "bold magenta",
    MAKER: "bold blue",
}
Line = Sequence[tuple[str, str]]
"""Pieces of text, each with its style. The style of a state is the state's name."""


class Transcript:
    """Turns events into lines.

    Messages of a scope get a letter, and all their state changes are shown. For other messages only the text is shown.
    """

    def __init__(self) -> None:
        self._tags: dict[MessageId, str] = {}
        self._requests = 0
        self.processes: dict[str, int] = {}
        """Process ids, by role."""

    def said(self, message: Message) -> Line:
        """Return a message as one line: sender, recipient and text."""
        sender, to = message.sender.agent, str(message.to[0])
        head = (("  ", ""), (f"{sender:<6}", _colour(sender)), (" → ", "dim"), (f"{to:<6}", _colour(to)), ("  ", ""))
        if message.scope is None:
            about = ((f"{message.kind} ", "dim"),)
        else:
            tag = self._name(message)
            about = ((f"{message.kind} ", "dim"), (f"{tag} ", "bold"), (f"{message.subject}: ", "dim"))
        return (*head, *about, (f"“{message.text}”", ""))

    def in_conversation(self, conversation: str, what: str, text: str) -> Line:
        """Return the line for a text that a person says or reads."""
        return (("  ", ""), (f"{conversation} {what} ", "bold green"), (f"“{text}”", ""))

    def killed(self, role: str, pid: int, presence: str, debt: str) -> Line:
        """Return the line for a killed player."""
        return _did(role, f"kill -9 {pid}: {role} is {presence}, its debt is {debt}", "bold red")

    def happened(self, event: Event) -> Iterator[Line]:
        """Yield a line for each change that an event made to the ledger or to the players."""
        who = event.actor.agent
        match event.action:
            case Action.MESSAGE_SENT:
                yield from self._filed(event)
            case Action.OFFER_MADE:
                for delivery in _texts(event.details, "deliveries"):
                    yield from self._ledger(
                        MessageId(delivery.rpartition(".")[0]), ("queued → ", "dim"), ("offered", "offered")
                    )
            case Action.DELIVERY_MOVED | Action.TICKET_MOVED:
                yield from self._moved(event)
            case Action.DELIVERY_PLACED:
                is_parked = str(event.details["inbox"]).startswith("agent:")
                what = f"parked with {event.agent}" if is_parked else f"taken up by {event.agent}'s new session"
                yield from self._ledger(event.message_id, (what, "queued"))
            case Action.DELIVERY_ARCHIVED:
                yield from self._ledger(event.message_id, ("archived", "handled"), (f" by {who}", "dim"))
            case Action.TASK_MOVED:
                before, after = str(event.details["from"]), str(event.details["to"])
                step = "still " if before == after else f"{before} → "
                yield ((MARGIN, ""), ("task ", "bold"), (step, "dim"), (after, after))
            case Action.MESSAGE_SWEPT:
                yield _did(who, f"commits: the gate is open, {event.details['moved']} messages swept", "green")
            case Action.AGENT_STATUS:
                status = str(event.details["status"])
                yield _did(who, status, "red" if "refused" in status else "italic")
            case Action.SESSION_ENDED:
                yield _did(str(event.agent), f"session over: {event.details['reason']}", "dim")
            case Action.SESSION_JOINED:
                yield _did(who, f"process {self.processes.get(who)} joined as {event.details['key']}", "dim")
            case _:
                pass

    def _filed(self, event: Event) -> Iterator[Line]:
        debt = f"; {event.agent} owes {event.actor.agent} an answer" if event.details["tickets"] else ""
        for state in _states(event.details):
            yield from self._ledger(event.message_id, (state, state), (f" with {event.agent}{debt}", "dim"))

    def _moved(self, event: Event) -> Iterator[Line]:
        before, after = str(event.details["from"]), str(event.details["to"])
        reason = str(event.details.get("reason") or "").removeprefix("evidence: ")
        what = "debt " if event.action is Action.TICKET_MOVED else ""
        yield from self._ledger(
            event.message_id,
            (f"{what}{before} → ", "dim"),
            (after, after),
            (f" ({reason})" if reason else "", "dim"),
        )

    def _ledger(self, message_id: MessageId | None, *pieces: tuple[str, str]) -> Iterator[Line]:
        tag = self._tags.get(message_id) if message_id is not None else None
        if tag is not None:
            yield ((MARGIN, ""), (f"{tag} ", "bold"), *pieces)

    def _name(self, message: Message) -> str:
        """Give a request the next letter, and a response the lower-case letter of its request."""
        request = message.in_reply_to
        if message.kind is Kind.RESPONSE and request is not None and request in self._tags:
            tag = self._tags[request].lower()
        else:
            tag = chr(ord("A") + self._requests)
            self._requests += 1
        self._tags[message.id] = tag
        return tag


def heading(text: str) -> Line:
    """Return the line that an act begins with."""
    return (("── ", "dim"), (text, "bold"), (" " + "─" * (WIDTH - 4 - len(text)), "dim"))


def _did(who: str, what: str, style: str) -> Line:
    return (("  ", ""), (f"{who:<6}", _colour(who)), (" " * 11, ""), (what, style))


def _colour(name: str) -> str:
    return COLOURS.get(name, "bold")


def _texts(details: Mapping[str, Json], name: str) -> list[str]:
    found = details[name]
    return [str(item) for item in found] if isinstance(found, list) else []


def _states(details: Mapping[str, Json]) -> list[str]:
    """Return the initial state of each copy of a new message."""
    found = details["deliveries"]
    return [str(item["state"]) for item in found if isinstance(item, dict)] if isinstance(found, list) else []
