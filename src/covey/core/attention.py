"""What is pending for a session, as data: the messages that one turn shows, who else is there, what did not fit."""

from collections.abc import Collection
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final, NamedTuple

from covey.core.card import Presence
from covey.core.counted import counted
from covey.core.errors import Invalid
from covey.core.extent import Extent
from covey.core.identity import Grade, Identity
from covey.core.ids import DeliveryId, MessageId, OfferId, SessionId
from covey.core.limits import ATTENTION_BUDGET, MAX_SHOWN, MIN_ATTENTION_BUDGET, OFFER_LEASE
from covey.core.message import Callback, Kind
from covey.core.names import AgentName, Scope, Subject
from covey.core.offer import Presentation

MAX_WAY_CHARS: Final = 160


class Rank(IntEnum):
    """Whose mail is shown first."""

    OPERATOR = 0
    """The person in charge, known by a token."""

    LEAD = 1
    """Whoever this session works for, and the space itself."""

    PEER = 2


class TaskNote(NamedTuple):
    """What a letter tells of the task that it hands over, or that it is about."""

    id: MessageId
    agent: AgentName
    """Who is to do it."""
    state: str
    """What it is now; in an update, what it has become."""
    deadline: datetime | None = None
    attempt: int = 1
    """How many sessions have taken it, with the one that is shown it."""


class WorkNote(NamedTuple):
    """What a letter tells of work that a worker has finished."""

    worker: str
    """As it is addressed: a label, a session key or an agent."""
    status: str
    run: str | None = None
    session: str | None = None
    """Its session key, where it is a child."""


class ChildNote(NamedTuple):
    """The child that a letter is from: several children may be of one agent."""

    session: str
    """Its session key."""
    label: str | None = None
    run: str | None = None
    status: str | None = None
    """The state of its run now."""


class Letter(NamedTuple):
    """A message as a model is shown it."""

    number: int
    """What the recipient calls it: 1, 2, 3…"""
    message_id: MessageId
    delivery_id: DeliveryId
    sender: Identity
    kind: Kind
    sent_at: datetime
    text: str
    """As much of the body as is shown, as it was sent. Renderings make it harmless."""
    length: int
    """The characters of the whole body."""
    start: int = 0
    """How many characters of the body were seen before, and are not shown again."""
    rank: Rank = Rank.PEER
    expects_reply: bool = False
    scope: Scope | None = None
    subject: Subject | None = None
    correlation_id: str | None = None
    approval: str | None = None
    """What it asks to be approved, in the word of its data: plan_approval_request."""
    task: TaskNote | None = None
    callback: Callback | None = None
    """The conversation that a result belongs to."""
    work: WorkNote | None = None
    child: ChildNote | None = None

    @property
    def goal(self) -> SessionId | None:
        """The goal of a foreign program on the peers' wire, which can be written to; None for anyone else."""
        return self.sender.session if self.sender.grade is Grade.CLAIMED else None

    @property
    def extent(self) -> Extent:
        """How much of the body is shown."""
        return Extent(self.start, self.start + len(self.text), self.length)

    @property
    def is_cut(self) -> bool:
        return not self.extent.is_whole

    @property
    def has_more(self) -> bool:
        """Whether something of the body is left after what is shown."""
        return self.extent.stop < self.length


class OtherAgent(NamedTuple):
    """An agent, or a child of the same family, that is there too."""

    name: str
    """As it is addressed: an agent's name, a child's label or session key."""
    presence: Presence
    status: str | None = None
    """What it says that it is doing."""
    description: str = ""


class LeftOut(NamedTuple):
    """What waits and did not fit."""

    messages: int = 0
    asking: int = 0
    """How many of them want an answer."""


class Ways(NamedTuple):
    """How the reader gets at what it is not shown, in words that it can act on. {agent} stands for its own name,
    {number} and {message} for the number and the id of a message, {next} for the place in its text where it goes on."""

    more: str = "covey inbox {agent}"
    """To what did not fit."""
    rest: str = "covey thread {message}"
    """To the rest of a message that was cut."""
    answer: str = "covey reply NUMBER TEXT --agent {agent}"
    decide: str = "covey approve {number} --agent {agent}, or covey reject {number} --reason TEXT --agent {agent}"
    """To approve or reject what a message asks for."""
    task: str = (
        "covey accept {number} --agent {agent}; then covey update {number} --agent {agent} --start, later "
        "--complete TEXT or --fail WHY"
    )
    """To say what becomes of a task. Empty where the reader has no way: then no task is taken for it."""
    worker: str = ""
    """To give a worker that has finished more to do. Empty where the reader is no coordinator."""


class Terms(NamedTuple):
    """How much of what waits is shown in one turn, and how."""

    budget: int = ATTENTION_BUDGET
    """Characters, with everything that stands around the messages."""
    presentation: Presentation = Presentation.ONCE
    limit: int = MAX_SHOWN
    """How many messages at most."""
    leads: Collection[AgentName] = ()
    """Whose mail comes before that of peers, besides those that the space knows this session to work for."""
    ways: Ways = Ways()
    lease: timedelta = OFFER_LEASE


class Pending(NamedTuple):
    """What a session has to know before its next turn."""

    agent: AgentName
    letters: tuple[Letter, ...] = ()
    """In the order in which they are shown."""
    left_out: LeftOut = LeftOut()
    others: tuple[OtherAgent, ...] = ()
    """The live agents besides this one, by name, as many as fit."""
    more_others: int = 0
    """How many did not."""
    has_announced: bool = True
    """Whether this agent has said what it is doing."""
    offer: OfferId | None = None
    """What the showing is known by; None where it was only looked at."""
    presentation: Presentation = Presentation.ONCE
    ways: Ways = Ways()

    @property
    def is_worth_showing(self) -> bool:
        """Whether a model should be told. Where messages are shown until they are handled, agents discover each other
        by being shown too."""
        if self.presentation is Presentation.UNTIL_HANDLED and (self.others or not self.has_announced):
            return True
        return bool(self.letters)

    @property
    def title(self) -> str:
        return f"{len(self.others) + self.more_others} agent(s), {len(self.letters)} message(s)"

    @property
    def left_out_line(self) -> str:
        """One line that says how many did not fit and how to read them; empty where all fit."""
        messages, asking = self.left_out
        if not messages:
            return ""
        asks = f", {asking:,} of which want an answer" if asking else ""
        more = self.ways.more.format(agent=self.agent)
        return f"{counted(messages, 'more message')} did not fit{asks}. Read them: {more}"

    @property
    def how_to_answer(self) -> str:
        """One line that says how a message is answered."""
        return f"Answer: {self.ways.answer.format(agent=self.agent)}"


def cut_note(letter: Letter, agent: AgentName, ways: Ways) -> str:
    """Say how much of a letter is shown, and how to read the rest; empty where it is whole."""
    if not letter.is_cut:
        return ""
    told = f"{len(letter.text):,} of {letter.length:,} characters" if not letter.start else f"goes on: {letter.extent}"
    if not letter.has_more:
        return told
    rest = ways.rest.format(agent=agent, number=letter.number, message=letter.message_id, next=letter.extent.stop + 1)
    return f"{told}; the rest: {rest}"


def decide_note(letter: Letter, agent: AgentName, ways: Ways) -> str:
    """Say how a letter that asks for an approval is approved or rejected; empty where it asks for none."""
    if letter.approval is None:
        return ""
    return ways.decide.format(agent=agent, number=letter.number, message=letter.message_id)


def check_terms(terms: Terms) -> Terms:
    """Return the terms; a budget that holds no message is Invalid."""
    if terms.budget < MIN_ATTENTION_BUDGET:
        raise Invalid("budget", terms.budget, f"use at least {MIN_ATTENTION_BUDGET:,} characters")
    if not 0 < terms.limit <= MAX_SHOWN:
        raise Invalid("limit", terms.limit, f"use 1 to {MAX_SHOWN}")
    if any(len(way) > MAX_WAY_CHARS for way in terms.ways):
        raise Invalid("ways", terms.ways, f"use at most {MAX_WAY_CHARS} characters for each")
    try:
        for way in terms.ways:
            way.format(agent="", number=0, message="", next=0)
    except (LookupError, ValueError, AttributeError):
        raise Invalid("ways", terms.ways, "only {agent}, {number}, {message} and {next} stand for something") from None
    return terms
