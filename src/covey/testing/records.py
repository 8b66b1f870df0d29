"""Sample records with sensible defaults, for tests: a test sets only the fields that matter.

`n` makes a record different from others of its kind. To set a field without a parameter: `a_session(1)._replace(…)`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from covey.core.channels.post import Binding, Post, PostState
from covey.core.directory.card import Agent, Card
from covey.core.directory.session import Holder, Session, SessionKind
from covey.core.identity import Grade, Identity, SessionKey, Token, main_key, parse_address
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind, Message, TextPart
from covey.core.ledger.offer import Extent, Offer
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.ledger.waits import Wait
from covey.core.names import (
    AgentName,
    InboxId,
    Label,
    MessageId,
    OfferId,
    Scope,
    SessionId,
    Subject,
    TicketId,
    delivery_id,
    parked_inbox,
    ticket_id,
)
from covey.core.storms.budget import Tree
from covey.core.storms.flow import Flow, Party
from covey.core.work.run import LauncherKind, Run, RunId, RunMode, RunState
from covey.core.work.task import FINISHED, Task, TaskState
from covey.testing.fakes import numbered_uuid

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    """Return the time `seconds` after `START`."""
    return START + timedelta(seconds=seconds)


def a_message_id(n: int = 1) -> MessageId:
    """Return the id of the `n`-th message."""
    return MessageId(f"{int(START.timestamp()) * 1000 + n}-{numbered_uuid(n)}")


def a_session_id(n: int = 1) -> SessionId:
    """Return the id of the `n`-th session."""
    return SessionId(numbered_uuid(n))


def an_offer_id(n: int = 1) -> OfferId:
    """Return the id of the `n`-th offer."""
    return OfferId(numbered_uuid(n))


def an_agent(name: str = "bob", *, card: Card | None = None, status: str | None = None) -> Agent:
    """Return an agent with a blank card."""
    return Agent(AgentName(name), card or Card(), START, status)


def a_session(
    n: int = 1,
    *,
    agent: str = "bob",
    key: SessionKey | None = None,
    label: str | None = None,
    joined_at: datetime = START,
    ended_at: datetime | None = None,
) -> Session:
    """Return an attached session, by default of bob."""
    return Session(
        id=a_session_id(n),
        key=key or main_key(AgentName(agent), None if n == 1 else a_session_id(n)),
        agent=AgentName(agent),
        kind=SessionKind.ATTACHED,
        holder=Holder(lock=f"lock-{n}"),
        secret_hash=f"hash-{n}",
        joined_at=joined_at,
        seen_at=joined_at,
        lease=timedelta(seconds=60),
        label=None if label is None else Label(label),
        ended_at=ended_at,
        end_reason="left" if ended_at else None,
    )


def a_message(
    n: int = 1,
    *,
    kind: Kind = Kind.NOTIFY,
    sender: str = "alice",
    to: str = "bob",
    text: str = "hello",
    thread: MessageId | None = None,
    subject: str | None = None,
    scope: str | None = None,
    created_at: datetime = START,
) -> Message:
    """Return a message, by default from alice to bob."""
    message_id = a_message_id(n)
    return Message(
        id=message_id,
        kind=kind,
        sender=Identity(AgentName(sender), None, Grade.CLAIMED),
        to=(parse_address(to),),
        parts=(TextPart(text),),
        created_at=created_at,
        thread=thread or message_id,
        root=thread or message_id,
        subject=None if subject is None else Subject(subject),
        scope=None if scope is None else Scope(scope),
        round=None,
        cause=None,
        in_reply_to=None,
        correlation_id=None,
        expects_reply=kind is Kind.REQUEST,
        hops_left=2,
        trace=(AgentName(sender),),
        task=None,
        callback=None,
        deadline=None,
        expires_at=None,
        traceparent=None,
        metadata={},
        depth=0,
        marks=None,
    )


def a_delivery(
    n: int = 1,
    copy: int = 1,
    *,
    inbox: InboxId | None = None,
    state: DeliveryState = DeliveryState.QUEUED,
    kind: Kind = Kind.NOTIFY,
    sender: str = "alice",
    agent: str = "bob",
    subject: str | None = None,
    scope: str | None = None,
    expires_at: datetime | None = None,
    lease_until: datetime | None = None,
) -> DeliveryRecord:
    """Return a copy of the `n`-th message, by default parked for bob."""
    return DeliveryRecord(
        id=delivery_id(a_message_id(n), copy),
        message_id=a_message_id(n),
        inbox=inbox or parked_inbox(AgentName(agent)),
        agent=AgentName(agent),
        state=state,
        kind=kind,
        sender=AgentName(sender),
        expects_reply=kind is Kind.REQUEST,
        updated_at=START,
        number=n,
        scope=None if scope is None else Scope(scope),
        subject=None if subject is None else Subject(subject),
        expires_at=expires_at,
        offer=an_offer_id() if state is DeliveryState.OFFERED else None,
        lease_until=lease_until,
    )


def an_offer(n: int = 1, *, session: int = 1, offered_at: datetime = START, ended_at: datetime | None = None) -> Offer:
    """Return an offer of the `n`-th message to a session."""
    return Offer(
        id=an_offer_id(n),
        session=a_session_id(session),
        turn=f"turn-{n}",
        deliveries=(delivery_id(a_message_id(n), 1),),
        offered_at=offered_at,
        lease_until=offered_at + timedelta(minutes=10),
        ended_at=ended_at,
        end_reason="confirmed" if ended_at else None,
        extents=(Extent(0, 7223, 52_903),),
    )


def a_ticket(
    n: int = 1,
    *,
    asker: str = "alice",
    debtor: str = "bob",
    state: TicketState = TicketState.OPEN,
    scope: str | None = None,
    opened_at: datetime = START,
    awaits: TicketId | None = None,
) -> Ticket:
    """Return the debt for the `n`-th message, by default of bob to alice."""
    return Ticket(
        id=ticket_id(a_message_id(n), AgentName(debtor)),
        message_id=a_message_id(n),
        thread=a_message_id(n),
        asker=AgentName(asker),
        debtor=AgentName(debtor),
        state=state,
        opened_at=opened_at,
        scope=None if scope is None else Scope(scope),
        awaits=awaits,
    )


def a_task(
    n: int = 1,
    *,
    delegator: str = "alice",
    agent: str = "bob",
    state: TaskState = TaskState.PENDING,
    claimed_by: SessionId | None = None,
    deadline: datetime | None = None,
    parent: MessageId | None = None,
) -> Task:
    """Return the task of the `n`-th message, by default delegated by alice to bob."""
    return Task(
        id=a_message_id(n),
        delegator=AgentName(delegator),
        agent=AgentName(agent),
        state=state,
        created_at=START,
        updated_at=START,
        claimed_by=claimed_by,
        deadline=deadline,
        parent=parent,
        finished_at=START if state in FINISHED else None,
    )


def an_event(
    n: int = 1,
    *,
    action: Action = Action.MESSAGE_SENT,
    actor: str = "alice",
    agent: str | None = None,
    scope: str | None = None,
    details: Mapping[str, Json] | None = None,
) -> Event:
    """Return an event about the `n`-th message."""
    return Event(
        action=action,
        actor=Identity(AgentName(actor), a_session_id(), Grade.SESSION),
        at=START,
        message_id=a_message_id(n),
        agent=None if agent is None else AgentName(agent),
        scope=None if scope is None else Scope(scope),
        details=details or {},
    )


def a_run_id(n: int = 1) -> RunId:
    """Return the id of the `n`-th run."""
    return RunId(numbered_uuid(1000 + n))


def a_run(
    n: int = 1,
    *,
    agent: str = "bob",
    parent: int | None = 1,
    parent_agent: str = "alice",
    state: RunState = RunState.RUNNING,
    folder: str | None = None,
    is_told: bool = True,
    ended_at: datetime | None = None,
) -> Run:
    """Return the `n`-th run, by default of a child of bob that a session of alice has started."""
    session = a_session_id(100 + n)
    run = Run(
        id=a_run_id(n),
        session=session,
        key=main_key(AgentName(agent)).child(session),
        agent=AgentName(agent),
        parent_agent=AgentName(parent_agent),
        request=a_message_id(n),
        mode=RunMode.RUN,
        launcher=LauncherKind.COMMAND,
        state=state,
        started_at=START,
        parent=None if parent is None else a_session_id(parent),
        folder=folder,
        is_told=is_told,
    )
    return run._replace(ended_at=ended_at or at(9)) if run.has_ended else run


def a_post(
    n: int = 1,
    *,
    channel: str = "ops",
    conversation: str = "c-1",
    state: PostState = PostState.PENDING,
    next_at: datetime | None = START,
    holder: str | None = None,
) -> Post:
    """Return the post of the `n`-th message, by default due at `START`."""
    return Post(
        id=delivery_id(a_message_id(n), 1),
        channel=AgentName(channel),
        conversation=conversation,
        message_id=a_message_id(n),
        state=state,
        created_at=START,
        since=START,
        next_at=next_at,
        attempts=0 if holder is None else 1,
        holder=holder,
    )


def a_binding(conversation: str = "c-1", *, channel: str = "ops", to: str = "bob") -> Binding:
    """Return the binding of a conversation, by default to bob."""
    return Binding(AgentName(channel), conversation, parse_address(to), START)


def a_tree(n: int = 1, *, grew_at: datetime = START) -> Tree:
    """Return the causal tree of the `n`-th message, with `n` further messages in one chain."""
    return Tree(a_message_id(n), START, grew_at, messages=n + 1, depth=n)


def a_flow(*, source: str = "alice", to: str = "bob") -> Flow:
    """Return a flow with one sample, by default from alice to bob."""
    return Flow(Party(source), Party(to), START, (1,), 1)


def a_wait(n: int = 1, *, asker: str = "alice") -> Wait:
    """Return the wait for the answer to the `n`-th message, by default of alice."""
    return Wait(AgentName(asker), a_ticket(n).id, a_session_id(n), at(n), at(60 + n))


def a_token(n: int = 1, *, agent: str = "bob", created_at: datetime = START) -> Token:
    """Return a token, by default of bob."""
    return Token(f"hash-{n}", AgentName(agent), created_at, note=f"token {n}", used_at=created_at)
