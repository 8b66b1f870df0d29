"""The replay of the journal: the state that the records must have according to its events."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from covey.core.care.consistency import DeliveryAccount, Disagreement, SessionAccount, TaskAccount, TicketAccount
from covey.core.channels.post import POST_MOVES, PostMove, PostState
from covey.core.errors import CoveyError, IllegalMove, Invalid
from covey.core.ledger.delivery import MOVES, DeliveryState, Move, seen_after
from covey.core.ledger.event import Action, Event, agree, count, entries, extents, known, text, text_or_none, texts
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.offer import EvidenceGrade, Extent, better, offered, proven
from covey.core.ledger.ticket import TICKET_MOVES, TicketMove, TicketState, TicketTrouble, opening
from covey.core.names import (
    AgentName,
    DeliveryId,
    InboxId,
    MessageId,
    SessionId,
    TicketId,
    delivery_message,
    inbox_session,
    session_inbox,
)
from covey.core.work.run import RUN_MOVES, RunId, RunMove, RunState, Stage
from covey.core.work.task import FINISHED, TASK_MOVES, Task, TaskMove, TaskState


class RunReplay:
    """A fold over the events of runs, oldest first. An event that can't follow the earlier ones raises, and changes
    nothing."""

    def __init__(self) -> None:
        self.runs: dict[RunId, RunState] = {}
        self.steps = {Action.SPAWN_STAGE: self._staged, Action.RUN_MOVED: self._moved}

    def _staged(self, event: Event) -> None:
        """Add the run when its session is made: that is how a run begins."""
        if text(event.details, "stage") != Stage.SESSION:
            return
        run_id = RunId(text(event.details, "run"))
        if run_id in self.runs:
            raise Invalid("run", run_id, "it was spawned before")
        self.runs[run_id] = RunState.STARTING

    def _moved(self, event: Event) -> None:
        run_id = RunId(text(event.details, "run"))
        before, move = self.runs[run_id], RunMove(text(event.details, "move"))
        state = RUN_MOVES[before].get(move)
        if state is None:
            raise IllegalMove("run", before, move)
        agree(event.details, "from", before)
        agree(event.details, "to", state)
        self.runs[run_id] = state


class BoundConversation(NamedTuple):
    """A binding of a conversation at some time."""

    channel: AgentName
    conversation: str
    to: str


class ChannelReplay:
    """A fold over the events of channels, oldest first. An event that can't follow the earlier ones raises, and changes
    nothing."""

    def __init__(self) -> None:
        self.posts: dict[DeliveryId, PostState] = {}
        """The posts that have moved. A new post is pending and has no event of its own."""
        self.bound: set[BoundConversation] = set()
        """All bindings that ever were. Two spaces that are merged may both have bound a conversation, so the journal
        does not tell the present one."""
        self.steps = {Action.POST_MOVED: self._moved, Action.CHANNEL_BOUND: self._bound}

    def _moved(self, event: Event) -> None:
        post_id = DeliveryId(text(event.details, "post"))
        before = self.posts.get(post_id, PostState.PENDING)
        move = PostMove(text(event.details, "move"))
        state = POST_MOVES[before].get(move)
        if state is None:
            raise IllegalMove("post", before, move)
        agree(event.details, "from", before)
        agree(event.details, "to", state)
        self.posts[post_id] = state

    def _bound(self, event: Event) -> None:
        details = event.details
        self.bound.add(
            BoundConversation(known(event.agent, "agent"), text(details, "conversation"), text(details, "to"))
        )


class TaskReplay:
    """A fold over the events of tasks, oldest first. An event that can't follow the earlier ones raises, and changes
    nothing."""

    def __init__(self) -> None:
        self.tasks: dict[MessageId, TaskAccount] = {}
        self.steps = {
            Action.TASK_MOVED: self._moved,
            Action.TASK_CLAIMED: self._claimed,
            Action.TASK_RELEASED: self._released,
        }

    def sent(self, event: Event) -> None:
        """Apply the sending of a message, which may hand over a task."""
        if event.details.get("kind") == Kind.TASK:
            self.tasks[known(event.message_id, "message")] = _opened(event)

    def _moved(self, event: Event) -> None:
        task_id, account = self._task(event)
        move = TaskMove(text(event.details, "move"))
        state = TASK_MOVES[account.state].get(move)
        if state is None:
            raise IllegalMove("task", account.state, move)
        agree(event.details, "from", account.state)
        agree(event.details, "to", state)
        after = account._replace(state=state)
        if move is TaskMove.ACCEPT and count(event.details, "attempt") == account.attempt + 1:
            # The task was claimed and accepted in one step.
            after = after._replace(claimed_by=_session(event), attempt=account.attempt + 1)
        update = text_or_none(event.details, "update")
        told = MessageId(update) if update is not None else None
        if move is TaskMove.PROGRESS:
            after = after._replace(progress=told)
        if state in FINISHED:
            reason = text_or_none(event.details, "reason")
            after = after._replace(claimed_by=None, abandoned_at=None, reason=reason, result=told, finished_at=event.at)
        self.tasks[task_id] = after

    def _claimed(self, event: Event) -> None:
        task_id, account = self._task(event)
        attempt = count(event.details, "attempt")
        if account.state in FINISHED or attempt != account.attempt + 1:
            raise Invalid("attempt", attempt, f"the task is {account.state}, and was claimed {account.attempt} times")
        self.tasks[task_id] = account._replace(claimed_by=_session(event), attempt=attempt, abandoned_at=None)

    def _released(self, event: Event) -> None:
        task_id, account = self._task(event)
        agree(event.details, "session", account.claimed_by or "none")
        is_abandoned = account.state is not TaskState.PENDING
        self.tasks[task_id] = account._replace(claimed_by=None, abandoned_at=event.at if is_abandoned else None)

    def _task(self, event: Event) -> tuple[MessageId, TaskAccount]:
        task_id = known(event.message_id, "message")
        return task_id, self.tasks[task_id]


def _session(event: Event) -> SessionId | None:
    session = text_or_none(event.details, "session")
    return SessionId(session) if session is not None else None


def _opened(event: Event) -> TaskAccount:
    """Return the first state of a task: pending, or rejected if its message was refused."""
    lines = entries(event.details, "deliveries")
    if any(text(line, "state") == DeliveryState.QUEUED for line in lines):
        return TaskAccount(TaskState.PENDING)
    reason = text_or_none(lines[0], "reason") if lines else None
    return TaskAccount(TaskState.REJECTED, reason=reason, finished_at=event.at)


class Replay:
    """A fold over the events, oldest first. An event that can't follow the earlier ones is a fault, and is skipped."""

    def __init__(self) -> None:
        self.agents: set[AgentName] = set()
        self.sessions: dict[SessionId, SessionAccount] = {}
        self.messages: dict[MessageId, list[DeliveryId]] = {}
        """The deliveries of each message, in the order of acceptance."""
        self.deliveries: dict[DeliveryId, DeliveryAccount] = {}
        self.tickets: dict[TicketId, TicketAccount] = {}
        self.pruned = 0
        """The number of messages that were removed from the ledger, with their events."""
        self.absent: dict[MessageId, Disagreement] = {}
        """Messages that an offer showed and that no event sent: a fault, unless they were pruned."""
        self.faults: list[Disagreement] = []
        self._tasks = TaskReplay()
        self.tasks = self._tasks.tasks
        channels = ChannelReplay()
        self.posts = channels.posts
        self.bound = channels.bound
        runs = RunReplay()
        self.runs = runs.runs
        self._steps = {
            **self._tasks.steps,
            **channels.steps,
            **runs.steps,
            Action.AGENT_REGISTERED: self._registered,
            Action.SESSION_JOINED: self._joined,
            Action.SESSION_ENDED: self._ended,
            Action.MESSAGE_SENT: self._sent,
            Action.MESSAGES_PRUNED: self._pruned,
            Action.DELIVERY_MOVED: self._moved,
            Action.DELIVERY_PLACED: self._placed,
            Action.DELIVERY_ARCHIVED: self._archived,
            Action.OFFER_MADE: self._offered,
            Action.EVIDENCE: self._evidence,
            Action.TICKET_OPENED: self._ticket_opened,
            Action.TICKET_MOVED: self._ticket_moved,
            Action.TICKET_TROUBLED: self._ticket_troubled,
            Action.TICKET_PASSED: self._ticket_passed,
        }

    def apply(self, event: Event) -> None:
        """Apply the next event."""
        step = self._steps.get(event.action)
        if step is None:
            return
        try:
            step(event)
        except (IllegalMove, Invalid, KeyError, ValueError) as fault:
            self.faults.append(_does_not_follow(event, str(fault)))

    def _registered(self, event: Event) -> None:
        self.agents.add(known(event.agent, "agent"))

    def _joined(self, event: Event) -> None:
        self.sessions[SessionId(text(event.details, "session"))] = SessionAccount(known(event.agent, "agent"))

    def _ended(self, event: Event) -> None:
        session_id = SessionId(text(event.details, "session"))
        self.sessions[session_id] = self.sessions[session_id]._replace(has_ended=True)

    def _sent(self, event: Event) -> None:
        message_id = known(event.message_id, "message")
        if message_id in self.messages:
            raise Invalid("message", message_id, "it was sent before")
        copies: dict[DeliveryId, DeliveryAccount] = {}
        for line in entries(event.details, "deliveries"):
            inbox = InboxId(text(line, "inbox"))
            account = DeliveryAccount(message_id, inbox, self._owner(inbox), DeliveryState(text(line, "state")))
            copies[DeliveryId(text(line, "id"))] = account
        tickets = texts(event.details, "tickets")
        self._tasks.sent(event)
        self.deliveries.update(copies)
        self.messages[message_id] = list(copies)
        for ticket_id in tickets:
            self._open(TicketId(ticket_id), copies)

    def _pruned(self, event: Event) -> None:
        self.pruned += count(event.details, "messages")

    def _moved(self, event: Event) -> None:
        delivery_id, account = self._delivery(text(event.details, "delivery"))
        move = Move(text(event.details, "move"))
        agree(event.details, "from", account.state)
        state = MOVES[account.state].get(move)
        if state is None:
            raise IllegalMove("delivery", account.state, move)
        agree(event.details, "to", state)
        seen = seen_after(account.seen, move, text_or_none(event.details, "reason"))
        self.deliveries[delivery_id] = account._replace(state=state, seen=seen)

    def _placed(self, event: Event) -> None:
        delivery_id, account = self._delivery(text(event.details, "delivery"))
        _check_queued(account.state, "be placed")
        inbox = InboxId(text(event.details, "inbox"))
        self.deliveries[delivery_id] = account._replace(inbox=inbox, agent=event.agent, seen=None)

    def _archived(self, event: Event) -> None:
        for delivery_id in self.messages[known(event.message_id, "message")]:
            account = self.deliveries[delivery_id]
            if account.agent == event.agent:
                self.deliveries[delivery_id] = account._replace(is_archived=True)

    def _offered(self, event: Event) -> None:
        for delivery_id, account, extent in self._shown(event):
            # A delivery that was in context before keeps its state while it is shown again.
            if account.state is not DeliveryState.IN_CONTEXT:
                if account.state is not DeliveryState.OFFERED or extent is None:
                    _check_queued(account.state, Move.OFFER)
                seen = account.seen if extent is None else offered(account.seen, extent)
                self.deliveries[delivery_id] = account._replace(state=DeliveryState.OFFERED, seen=seen)

    def _evidence(self, event: Event) -> None:
        grade = EvidenceGrade(text(event.details, "grade"))
        session = text_or_none(event.details, "session")
        for delivery_id, account, extent in self._shown(event):
            is_there = session is None or account.inbox == session_inbox(SessionId(session))
            seen, reached = proven(account.seen, extent, grade, is_there=is_there)
            after = account.grade if reached is None else better(account.grade, reached)
            self.deliveries[delivery_id] = account._replace(grade=after, seen=seen)

    def _ticket_opened(self, event: Event) -> None:
        message_id = known(event.message_id, "message")
        self._open(TicketId(text(event.details, "ticket")), self.messages[message_id])

    def _ticket_moved(self, event: Event) -> None:
        ticket_id, account = self._ticket(event)
        move = TicketMove(text(event.details, "move"))
        agree(event.details, "from", account.state)
        state = TICKET_MOVES[account.state].get(move)
        if state is None:
            raise IllegalMove("ticket", account.state, move)
        agree(event.details, "to", state)
        answer = text_or_none(event.details, "answer")
        self.tickets[ticket_id] = TicketAccount(
            state=state,
            close_reason=move if state is TicketState.CLOSED else None,
            answer=MessageId(answer) if answer is not None else account.answer,
            trouble=account.trouble,
        )

    def _ticket_troubled(self, event: Event) -> None:
        ticket_id, account = self._ticket(event)
        self.tickets[ticket_id] = account._replace(trouble=TicketTrouble(text(event.details, "trouble")))

    def _ticket_passed(self, event: Event) -> None:
        ticket_id, account = self._ticket(event)
        awaits = text_or_none(event.details, "awaits")
        self.tickets[ticket_id] = account._replace(awaits=TicketId(awaits) if awaits is not None else None)

    def _open(self, ticket_id: TicketId, copies: Iterable[DeliveryId]) -> None:
        if ticket_id in self.tickets:
            raise Invalid("ticket", ticket_id, "it was opened before")
        debtor = ticket_id.partition("@")[2]
        accounts = (self.deliveries[copy] for copy in copies)
        move, trouble = opening([account.state for account in accounts if account.agent == debtor])
        state = TicketState.OPEN if move is None else TICKET_MOVES[TicketState.OPEN][move]
        self.tickets[ticket_id] = TicketAccount(state, move, trouble=trouble)

    def _owner(self, inbox: InboxId) -> AgentName | None:
        session_id = inbox_session(inbox)
        if session_id is None:
            return AgentName(inbox.partition(":")[2])
        session = self.sessions.get(session_id)
        return session.agent if session else None

    def _delivery(self, item: str) -> tuple[DeliveryId, DeliveryAccount]:
        delivery_id = DeliveryId(item)
        return delivery_id, self.deliveries[delivery_id]

    def _shown(self, event: Event) -> Iterator[tuple[DeliveryId, DeliveryAccount, Extent | None]]:
        """Yield the deliveries of an offer with their extents, without pruned ones: an offer may show mail of several
        threads, and only some of them may be pruned."""
        shown = texts(event.details, "deliveries")
        for item, extent in zip(shown, extents(event.details, len(shown)), strict=True):
            delivery_id = DeliveryId(item)
            message_id = delivery_message(delivery_id)
            if message_id in self.messages:
                yield *self._delivery(item), extent
            else:
                self.absent.setdefault(message_id, _does_not_follow(event, item))

    def _ticket(self, event: Event) -> tuple[TicketId, TicketAccount]:
        ticket_id = TicketId(text(event.details, "ticket"))
        return ticket_id, self.tickets[ticket_id]


def _does_not_follow(event: Event, found: str) -> Disagreement:
    place = f"{event.position} ({event.action})"
    return Disagreement("event", place, "an event that follows from the earlier events", found)


def _check_queued(state: DeliveryState, move: str) -> None:
    if state is not DeliveryState.QUEUED:
        raise IllegalMove("delivery", state, move)


def rebuilt(message: Message, agent: AgentName, parent: MessageId | None, events: Iterable[Event]) -> Task:
    """Return the task that a message handed to an agent, in the state that follows from the events of the message. Skip
    events that can't follow the earlier ones."""
    replay = TaskReplay()
    updated_at = message.created_at
    for event in events:
        step = replay.sent if event.action is Action.MESSAGE_SENT else replay.steps.get(event.action)
        if step is not None:
            try:
                step(event)
            except (CoveyError, LookupError, ValueError):
                continue
            updated_at = event.at
    account = replay.tasks.get(message.id, TaskAccount(TaskState.PENDING))
    return Task(
        id=message.id,
        delegator=message.sender.agent,
        agent=agent,
        created_at=message.created_at,
        updated_at=updated_at,
        delegator_session=message.sender.session,
        parent=parent,
        scope=message.scope,
        deadline=message.deadline,
        **account._asdict(),
    )
