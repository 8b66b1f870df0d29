"""Pending mail of a session, as data: the messages that one turn shows, the other agents, and a count of the rest."""

from collections.abc import Collection
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final, NamedTuple

from covey.core.directory.card import Presence
from covey.core.errors import Invalid
from covey.core.identity import Grade, Identity
from covey.core.ledger.marks import Step
from covey.core.ledger.message import Callback, Kind, Message
from covey.core.ledger.offer import Extent, Presentation
from covey.core.limits import ATTENTION_BUDGET, MAX_SHOWN, MIN_ATTENTION_BUDGET, OFFER_LEASE
from covey.core.names import AgentName, DeliveryId, MessageId, OfferId, Scope, SessionId, Subject
from covey.core.reporting import counted
from covey.core.work.run import Run, RunId, status_of
from covey.core.work.task import Task, TaskState

MAX_WAY_CHARS: Final = 160


class SenderRank(IntEnum):
    """The rank of a sender: mail of a lower value is shown first."""

    OPERATOR = 0
    """The person in charge, known by a token."""

    LEAD = 1
    """An agent that this session works for, or the space itself."""

    PEER = 2


class TaskNote(NamedTuple):
    """A note in a letter on the task that it hands over, or that it is about."""

    id: MessageId
    agent: AgentName
    """The agent that the task is for."""
    state: str
    """The present state of the task; in an update, its new state."""
    deadline: datetime | None = None
    attempt: int = 1
    """The number of sessions that have taken the task, including the one that is shown this note."""


class WorkNote(NamedTuple):
    """A note in a letter on work that a worker has finished."""

    worker: str
    """The worker's address: a label, a session key or an agent."""
    status: str
    run: str | None = None
    session: str | None = None
    """The worker's session key, if the worker is a child."""


class ChildNote(NamedTuple):
    """The child that sent a letter: one agent may have several children."""

    session: str
    """The child's session key."""
    label: str | None = None
    run: str | None = None
    status: str | None = None
    """The present state of the child's run."""


class Letter(NamedTuple):
    """A message as a model is shown it."""

    number: int
    """The message's number for its recipient: 1, 2, 3…"""
    message_id: MessageId
    delivery_id: DeliveryId
    sender: Identity
    kind: Kind
    sent_at: datetime
    text: str
    """The shown part of the body, as it was sent. Renderings escape it."""
    length: int
    """The number of characters in the whole body."""
    start: int = 0
    """The number of characters that were shown before and are not repeated."""
    rank: SenderRank = SenderRank.PEER
    expects_reply: bool = False
    scope: Scope | None = None
    subject: Subject | None = None
    correlation_id: str | None = None
    approval: str | None = None
    """The type of the approval that the message asks for, as in its data: plan_approval_request."""
    task: TaskNote | None = None
    callback: Callback | None = None
    """The conversation that a result belongs to."""
    work: WorkNote | None = None
    child: ChildNote | None = None

    @property
    def goal(self) -> SessionId | None:
        """The goal of a foreign program on the peers' wire, as an address for replies; None for any other sender."""
        return self.sender.session if self.sender.grade is Grade.CLAIMED else None

    @property
    def extent(self) -> Extent:
        """The part of the body that is shown."""
        return Extent(self.start, self.start + len(self.text), self.length)

    @property
    def is_cut(self) -> bool:
        return not self.extent.is_whole

    @property
    def has_more(self) -> bool:
        """True if the body goes on after the shown part."""
        return self.extent.stop < self.length


class OtherAgent(NamedTuple):
    """Another live agent, or a child of the same family."""

    name: str
    """The agent's address: an agent's name, a child's label or session key."""
    presence: Presence
    status: str | None = None
    """The status that the agent announced."""
    description: str = ""


class OmittedCounts(NamedTuple):
    """Counts of the pending messages that did not fit."""

    messages: int = 0
    asking: int = 0
    """The number of them that ask for something."""


class Instructions(NamedTuple):
    """Instructions for the reader: a command for each next step. {agent} stands for the reader's name, {number} and
    {message} for the number and the id of a message, {next} for the place in its text where it goes on."""

    more: str = "covey inbox {agent}"
    """To read the messages that did not fit."""
    rest: str = "covey thread {message}"
    """To read the rest of a message that was cut."""
    answer: str = "covey reply NUMBER TEXT --as {agent}"
    decide: str = "covey approve {number} --as {agent}, or covey reject {number} --reason TEXT --as {agent}"
    """To approve or reject a request for approval."""
    task: str = (
        "covey accept {number} --as {agent}; then covey update {number} --as {agent} --start, later "
        "--complete TEXT or --fail WHY"
    )
    """To report on a task. Empty if the reader has no such command: then no task is taken for it."""
    worker: str = ""
    """To give more work to a worker that has finished. Empty if the reader is no coordinator."""


class AttentionOptions(NamedTuple):
    """Limits and options for showing pending mail in one turn."""

    budget: int = ATTENTION_BUDGET
    """The limit in characters, including the frame around the messages."""
    presentation: Presentation = Presentation.ONCE
    limit: int = MAX_SHOWN
    """The largest number of messages."""
    leads: Collection[AgentName] = ()
    """Agents whose mail comes before that of peers, besides the leads of this session that the space knows."""
    ways: Instructions = Instructions()
    lease: timedelta = OFFER_LEASE


class Pending(NamedTuple):
    """Everything that a session is shown before its next turn. False if no message waits."""

    agent: AgentName
    letters: tuple[Letter, ...] = ()
    """In the order in which they are shown."""
    left_out: OmittedCounts = OmittedCounts()
    others: tuple[OtherAgent, ...] = ()
    """The other live agents, by name, as many as fit."""
    more_others: int = 0
    """The number of other agents that did not fit."""
    has_announced: bool = True
    """False if this agent has announced no status."""
    offer: OfferId | None = None
    """The id of the offer; None if the mail was only read and not offered."""
    presentation: Presentation = Presentation.ONCE
    ways: Instructions = Instructions()

    def __bool__(self) -> bool:
        """True if a message waits, whether it is shown or did not fit."""
        return bool(self.letters) or self.left_out.messages > 0

    @property
    def is_worth_showing(self) -> bool:
        """True if there is something to show to a model. With `UNTIL_HANDLED`, other agents and a missing status are
        reason enough, so that agents discover each other."""
        if self.presentation is Presentation.UNTIL_HANDLED and (self.others or not self.has_announced):
            return True
        return bool(self.letters)

    @property
    def title(self) -> str:
        return f"{len(self.others) + self.more_others} agent(s), {len(self.letters)} message(s)"

    @property
    def left_out_line(self) -> str:
        """One line that says how many messages did not fit and how to read them; empty if all fit."""
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


def cut_note(letter: Letter, agent: AgentName, ways: Instructions) -> str:
    """Return a note on how much of a letter is shown and how to read the rest; empty if all of it is shown."""
    if not letter.is_cut:
        return ""
    told = f"{len(letter.text):,} of {letter.length:,} characters" if not letter.start else f"goes on: {letter.extent}"
    if not letter.has_more:
        return told
    rest = ways.rest.format(agent=agent, number=letter.number, message=letter.message_id, next=letter.extent.stop + 1)
    return f"{told}; the rest: {rest}"


def decide_note(letter: Letter, agent: AgentName, ways: Instructions) -> str:
    """Return a note on how to approve or reject a letter; empty if the letter asks for no approval."""
    if letter.approval is None:
        return ""
    return ways.decide.format(agent=agent, number=letter.number, message=letter.message_id)


def check_terms(terms: AttentionOptions) -> AttentionOptions:
    """Return the terms. Raise Invalid if a limit is out of range, or if an instruction is too long or has a wrong
    field."""
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
        raise Invalid("ways", terms.ways, "use only the fields {agent}, {number}, {message} and {next}") from None
    return terms


_STATES: Final = frozenset(str(state) for state in TaskState)


def about_task(message: Message) -> MessageId | None:
    """Return the id of the task that a message hands over or reports on; None if there is none."""
    if message.kind is Kind.TASK:
        return message.id
    is_update = message.kind is Kind.UPDATE and message.task is not None and message.task.state in _STATES
    return MessageId(message.task.id) if is_update and message.task is not None else None


def task_note(task: Task, message: Message, *, is_taken: bool) -> TaskNote | None:
    """Return the note on a task that is shown with a message about it. Return None if the sender is neither the space
    nor the task's agent. `is_taken` is true if the session that is shown the message has taken the task."""
    if message.kind is Kind.TASK:
        return TaskNote(task.id, task.agent, task.state, task.deadline, task.attempt if is_taken else task.attempt + 1)
    is_told = message.sender.grade is Grade.SPACE or message.sender.agent == task.agent
    state = message.task.state if message.task is not None else None
    return TaskNote(task.id, task.agent, state) if is_told and state is not None else None


def run_of(answer: Message, request: Message) -> RunId | None:
    """Return the run that an answer, or else its request, belongs to; None if there is none."""
    for message in (answer, request):
        if message.marks is not None and message.marks.run is not None:
            return RunId(message.marks.run)
    return None


def is_work(request: Message) -> bool:
    """Tell whether a request is work that a coordinator gave to a worker."""
    return request.marks is not None and request.marks.step is Step.WORK


def work_note(answer: Message, request: Message, run: Run | None) -> WorkNote | None:
    """Return the note on finished work for an answer; None if it reports none. The caller has checked with the ledger
    that this is the answer that was owed."""
    if run is not None and (run.agent, run.session) == (answer.sender.agent, answer.sender.session):
        return WorkNote(str(run.label or run.key), status_of(answer), run.id, str(run.key))
    return WorkNote(answer.sender.agent, status_of(answer)) if is_work(request) else None
