"""Replay of a journal: it follows the events, and reports those that can't follow the events before them."""

from collections.abc import Mapping

import pytest

from covey.core.care.consistency import DeliveryAccount, TaskAccount
from covey.core.care.replay import BoundConversation, Replay
from covey.core.channels.post import PostState
from covey.core.identity import THE_SPACE
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.offer import EvidenceGrade
from covey.core.ledger.ticket import TicketMove, TicketState, TicketTrouble
from covey.core.names import AgentName, InboxId, delivery_id, ticket_id
from covey.core.work.task import TaskState
from covey.testing.records import START, a_message_id, a_session_id

BOB = AgentName("bob")
MESSAGE = a_message_id(1)
COPY = delivery_id(MESSAGE, 1)
TICKET = ticket_id(MESSAGE, BOB)
INBOX = InboxId(f"session:{a_session_id(1)}")


def event(action: Action, **details: Json) -> Event:
    """Return an event about the one message, which is addressed to bob."""
    return Event(action, THE_SPACE, START, MESSAGE, BOB, None, details, 7)


def moved(**details: Json) -> Event:
    """Return a move of the one delivery; `from_` stands for `from`."""
    return event(Action.DELIVERY_MOVED, delivery=COPY, **{name.rstrip("_"): value for name, value in details.items()})


JOINED = event(Action.SESSION_JOINED, session=a_session_id(1))
SENT = event(
    Action.MESSAGE_SENT, deliveries=[{"id": COPY, "inbox": INBOX, "state": "queued"}], tickets=[TICKET], kind="request"
)
OFFERED = event(Action.OFFER_MADE, deliveries=[COPY])


def replay(*events: Event) -> Replay:
    """Return the replay of a session, a message to it, and these events."""
    told = Replay()
    for each in (JOINED, SENT, *events):
        told.apply(each)
    return told


def test_a_message_begins_with_its_deliveries_and_tickets() -> None:
    told = replay()
    assert told.faults == []
    assert told.deliveries == {COPY: DeliveryAccount(MESSAGE, INBOX, BOB, DeliveryState.QUEUED)}
    assert told.tickets[TICKET].state is TicketState.OPEN


@pytest.mark.parametrize(
    ("state", "ticket_state", "trouble"),
    [
        ("refused", TicketState.CLOSED, None),
        ("undeliverable", TicketState.OPEN, TicketTrouble.UNDELIVERABLE),
        ("queued", TicketState.OPEN, None),
    ],
)
def test_the_first_state_of_a_ticket_follows_from_its_deliveries(
    state: str, ticket_state: TicketState, trouble: TicketTrouble | None
) -> None:
    told = Replay()
    lines = [{"id": COPY, "inbox": "agent:bob", "state": state}]
    told.apply(event(Action.MESSAGE_SENT, deliveries=lines, tickets=[TICKET]))
    assert (told.tickets[TICKET].state, told.tickets[TICKET].trouble) == (ticket_state, trouble)


def test_a_delivery_is_shown_proven_and_settled() -> None:
    told = replay(
        OFFERED,
        event(Action.EVIDENCE, deliveries=[COPY], grade="named"),
        event(Action.EVIDENCE, deliveries=[COPY], grade="inferred"),
        moved(from_="offered", move="confirm", to="in_context"),
        OFFERED,
        moved(from_="in_context", move="settle", to="handled"),
        event(Action.DELIVERY_ARCHIVED),
    )
    assert told.faults == []
    handled = DeliveryAccount(MESSAGE, INBOX, BOB, DeliveryState.HANDLED, EvidenceGrade.NAMED, is_archived=True)
    assert told.deliveries[COPY] == handled


def test_a_ticket_is_passed_troubled_answered_and_closed() -> None:
    told = replay(
        event(Action.TICKET_PASSED, ticket=TICKET, awaits="other"),
        event(Action.TICKET_TROUBLED, ticket=TICKET, trouble="expired"),
        event(
            Action.TICKET_MOVED, ticket=TICKET, move="answer", answer=a_message_id(2), **_between("open", "answered")
        ),
        event(Action.TICKET_MOVED, ticket=TICKET, move="archive", **_between("answered", "closed")),
    )
    assert told.faults == []
    closed = (TicketState.CLOSED, TicketMove.ARCHIVE, a_message_id(2), TicketTrouble.EXPIRED, None)
    assert told.tickets[TICKET] == closed


def _between(before: str, after: str) -> Mapping[str, Json]:
    return {"from": before, "to": after}


@pytest.mark.parametrize(
    "wrong",
    [
        SENT,
        moved(from_="offered", move="return", to="queued"),
        moved(from_="queued", move="release", to="queued"),
        moved(from_="queued", move="settle", to="expired"),
        moved(from_="queued", move="vanish", to="handled"),
        moved(from_="queued", move="settle"),
        event(Action.DELIVERY_MOVED, delivery="unheard of"),
        event(Action.DELIVERY_MOVED),
        event(Action.OFFER_MADE, deliveries="text"),
        event(Action.OFFER_MADE, deliveries=[7]),
        event(Action.EVIDENCE, deliveries=[COPY], grade="certain"),
        event(Action.TICKET_OPENED, ticket=TICKET),
        event(Action.TICKET_MOVED, ticket=TICKET, move="answer", **_between("answered", "closed")),
        event(Action.TICKET_MOVED, ticket="unheard of"),
        event(Action.SESSION_ENDED, session="unheard of"),
        Event(Action.MESSAGE_SENT, THE_SPACE, START, a_message_id(2), details={"deliveries": [7], "tickets": []}),
        Event(Action.AGENT_REGISTERED, THE_SPACE, START),
    ],
)
def test_an_event_that_cannot_follow_is_a_fault_and_changes_nothing(wrong: Event) -> None:
    told = replay(wrong)
    assert len(told.faults) == 1
    assert told.deliveries == replay().deliveries
    assert told.tickets == replay().tickets


@pytest.mark.requirement("ledger.states")
@pytest.mark.parametrize("end", ["settle", "evict", "expire", "supersede", "withdraw"])
def test_nothing_follows_the_end_of_a_delivery(end: str) -> None:
    ends = {"settle": "handled", "evict": "evicted", "expire": "expired", "supersede": "superseded"}
    over = ends.get(end, "withdrawn")
    told = replay(
        moved(from_="queued", move=end, to=over),
        OFFERED,
        moved(from_=over, move="return", to="queued"),
        event(Action.DELIVERY_PLACED, delivery=COPY, inbox="agent:bob"),
    )
    assert len(told.faults) == 3
    assert told.deliveries[COPY].state == over


TASK = event(
    Action.MESSAGE_SENT, deliveries=[{"id": COPY, "inbox": "agent:bob", "state": "queued"}], tickets=[], kind="task"
)
UPDATE = a_message_id(2)


def claimed(attempt: int = 1) -> Event:
    return event(Action.TASK_CLAIMED, session=a_session_id(1), attempt=attempt)


def task_moved(before: str, move: str, after: str, **details: Json) -> Event:
    said = {"attempt": 1, "session": a_session_id(1), "update": UPDATE, **details}
    return event(Action.TASK_MOVED, move=move, **_between(before, after), **said)


def task_replay(*events: Event) -> Replay:
    told = Replay()
    for each in (TASK, *events):
        told.apply(each)
    return told


def test_a_task_is_claimed_accepted_released_claimed_again_and_finished() -> None:
    steps = (
        (claimed(), TaskAccount(TaskState.PENDING, a_session_id(1), 1)),
        (task_moved("pending", "accept", "accepted"), TaskAccount(TaskState.ACCEPTED, a_session_id(1), 1)),
        (event(Action.TASK_RELEASED, session=a_session_id(1)), TaskAccount(TaskState.ACCEPTED, None, 1, START)),
        (claimed(2), TaskAccount(TaskState.ACCEPTED, a_session_id(1), 2)),
        (task_moved("accepted", "start", "working"), TaskAccount(TaskState.WORKING, a_session_id(1), 2)),
        (
            task_moved("working", "fail", "failed", reason="it broke"),
            TaskAccount(TaskState.FAILED, None, 2, None, "it broke", None, UPDATE, START),
        ),
    )
    for n, (_, expected) in enumerate(steps, 1):
        told = task_replay(*(step for step, _ in steps[:n]))
        assert told.faults == []
        assert told.tasks[MESSAGE] == expected


def test_accepting_a_task_also_claims_it() -> None:
    told = task_replay(task_moved("pending", "accept", "accepted"))
    assert told.tasks[MESSAGE] == TaskAccount(TaskState.ACCEPTED, a_session_id(1), 1)


def test_a_task_whose_message_was_refused_is_rejected_from_the_start() -> None:
    told = Replay()
    lines = [{"id": COPY, "inbox": "agent:bob", "state": "refused", "reason": "no room"}]
    told.apply(event(Action.MESSAGE_SENT, deliveries=lines, tickets=[], kind="task"))
    assert told.tasks[MESSAGE] == TaskAccount(TaskState.REJECTED, reason="no room", finished_at=START)
    assert told.tasks[MESSAGE].is_untouched


@pytest.mark.parametrize(
    "wrong",
    [
        task_moved("pending", "start", "working"),
        task_moved("accepted", "start", "working"),
        task_moved("pending", "accept", "working"),
        task_moved("pending", "vanish", "failed"),
        claimed(2),
        event(Action.TASK_CLAIMED, session=a_session_id(1)),
        event(Action.TASK_RELEASED, session=a_session_id(1)),
        Event(Action.TASK_CLAIMED, THE_SPACE, START, UPDATE, BOB, None, {"attempt": 1}),
    ],
)
def test_a_step_of_a_task_that_cannot_follow_is_a_fault_and_changes_nothing(wrong: Event) -> None:
    told = task_replay(wrong)
    assert len(told.faults) == 1
    assert told.tasks == {MESSAGE: TaskAccount(TaskState.PENDING)}


def post_moved(before: str, move: str, after: str) -> Event:
    return event(Action.POST_MOVED, post=COPY, move=move, **_between(before, after))


def test_a_post_begins_pending_and_follows_its_table() -> None:
    told = replay(post_moved("pending", "fail", "failed"), post_moved("failed", "retry", "pending"))
    assert told.faults == []
    assert told.posts == {COPY: PostState.PENDING}
    assert len(replay(post_moved("failed", "retry", "pending")).faults) == 1
    assert len(replay(post_moved("pending", "deliver", "delivered"), post_moved("delivered", "fail", "failed")).faults)


def test_every_binding_is_remembered_even_after_it_was_removed() -> None:
    told = replay(
        event(Action.CHANNEL_BOUND, conversation="c-1", to="coder"),
        event(Action.CHANNEL_UNBOUND, conversation="c-1", to="coder"),
    )
    assert told.bound == {BoundConversation(BOB, "c-1", "coder")}
