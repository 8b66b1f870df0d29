"""The inbox router: buffers by goal, filled from the wire."""

import json
from uuid import uuid4

import pytest

from covey.core.errors import Invalid
from covey.core.formats.peers import MAX_UNREGISTERED, InboxRouter
from covey.core.names import parse_session_id

GOAL = parse_session_id("b91c2d3a-0000-4000-8000-000000000001")
SUBJECT = f"agent.inbox.{GOAL}"


class Lines:
    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.debug: list[str] = []
        self.router = InboxRouter(self.warnings.append, self.debug.append)


@pytest.fixture
def lines() -> Lines:
    return Lines()


def payload(body: str = "hello", **more: object) -> bytes:
    fields: dict[str, object] = {
        "from_agent_id": "researcher",
        "from_goal_id": str(uuid4()),
        "to_agent_id": "coder",
        "body": body,
        "sent_at": "2026-04-30T14:00:00Z",
    }
    return json.dumps({**fields, **more}).encode()


def test_a_registered_goal_drains_its_messages_oldest_first_and_only_once(lines: Lines) -> None:
    buffer = lines.router.register(GOAL)
    for body in "abc":
        lines.router.route(SUBJECT, payload(body))
    assert [message.body for message in buffer.drain()] == ["a", "b", "c"]
    assert buffer.drain() == ()


@pytest.mark.requirement("peers.receive.on-demand")
def test_messages_that_arrived_before_a_goal_registered_are_in_its_buffer(lines: Lines) -> None:
    lines.router.route(SUBJECT, payload("early"))
    assert lines.router.unregistered == (GOAL,)
    assert [message.body for message in lines.router.register(GOAL).drain()] == ["early"]
    assert lines.router.unregistered == ()


def test_registering_again_gives_the_same_buffer(lines: Lines) -> None:
    assert lines.router.register(GOAL) is lines.router.register(GOAL.upper())


def test_a_full_buffer_drops_its_oldest_message_with_a_warning(lines: Lines) -> None:
    buffer = lines.router.register(GOAL)
    for n in range(66):
        lines.router.route(SUBJECT, payload(str(n)))
    assert len(buffer) == 64
    assert [message.body for message in buffer.drain()] == [str(n) for n in range(2, 66)]
    assert len(lines.warnings) == 2
    assert GOAL in lines.warnings[0]


@pytest.mark.requirement("peers.receive.forget")
def test_a_goal_that_is_forgotten_leaves_nothing(lines: Lines) -> None:
    lines.router.register(GOAL)
    lines.router.route(SUBJECT, payload())
    lines.router.forget(GOAL)
    lines.router.forget(GOAL)
    assert lines.router.register(GOAL).drain() == ()


def test_the_buffers_of_unregistered_goals_are_limited(lines: Lines) -> None:
    for _ in range(MAX_UNREGISTERED + 1):
        lines.router.route(f"agent.inbox.{uuid4()}", payload())
    assert len(lines.router.unregistered) == MAX_UNREGISTERED
    assert len(lines.warnings) == 1


@pytest.mark.requirement("peers.receive.garbage")
@pytest.mark.parametrize(
    ("subject", "data"),
    [("agent.inbox.x", payload()), ("other", payload()), (SUBJECT, b"{"), (SUBJECT, payload("")), (SUBJECT, b"[]")],
)
def test_garbage_is_dropped_with_a_debug_line(lines: Lines, subject: str, data: bytes) -> None:
    lines.router.route(subject, data)
    lines.router.route(SUBJECT, payload("good"))
    assert len(lines.debug) == 1
    assert lines.warnings == []
    assert [message.body for message in lines.router.register(GOAL).drain()] == ["good"]


def test_a_message_is_read_as_it_was_written(lines: Lines) -> None:
    correlation = str(uuid4())
    buffer = lines.router.register(GOAL)
    lines.router.route(SUBJECT, payload("é\u0000\n", correlation_id=correlation, unknown=1))
    lines.router.route(SUBJECT, payload("bare"))
    first, second = buffer.drain()
    assert first.correlation_id == correlation
    assert "correlation_id" not in json.loads(second.payload())
    for message in (first, second):
        lines.router.route(SUBJECT, message.payload())
    assert buffer.drain() == (first, second)


def test_a_goal_is_a_uuid(lines: Lines) -> None:
    with pytest.raises(Invalid):
        lines.router.register("coder")
