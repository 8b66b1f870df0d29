"""Routing within one transaction: the rules are evaluated once, and again if something relevant changes."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.adapters.memory import MemoryLiveness, MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.directory.card import Capacity, Card, Overflow
from covey.core.directory.routing import Pause, Recipient, Refusal, RefusalCode, write_pauses
from covey.core.errors import Paused
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.names import AgentName, Scope, Subject
from covey.ports.store import Store
from covey.services.act import Act
from covey.services.directory.presence import end_session
from covey.services.directory.settings import PAUSED
from covey.services.mail import placement
from tests.properties.world import finish
from tests.services.together import ANN, BOB, World

Change = Callable[[World, Act], Awaitable[object]]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "covey.db")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the messages for which the rules are evaluated from now on."""
    found: list[str] = []
    rules = placement.refusal

    def ask(message: Message, recipient: Recipient, *rest: Any, **named: Any) -> Refusal | None:
        found.append(message.id)
        return rules(message, recipient, *rest, **named)

    monkeypatch.setattr(placement, "refusal", ask)
    return found


async def take_card(act: Act, card: Card) -> None:
    agent = await act.tx.agents.get(BOB)
    assert agent is not None
    await act.tx.agents.put(agent._replace(card=card))


async def pause(act: Act) -> None:
    await act.tx.settings.put(PAUSED, write_pauses({ANN: Pause(AgentName("operator"), act.now, "")}))


def states(receipts: Sequence[ReceiptRecord | None]) -> list[list[DeliveryState]]:
    return [[copy.state for copy in receipt.deliveries] for receipt in receipts if receipt is not None]


def test_the_rules_are_evaluated_once_for_similar_messages(store: Store, asked: list[str]) -> None:
    world = World(store, MemoryLiveness())
    first, second, third = world.together(world.send, world.send, partial(world.send, kind=Kind.REQUEST))
    assert asked == [first.message_id, third.message_id]
    assert [copy.inbox for copy in second.deliveries] == [world.bob.session.inbox]
    assert [receipt.deliveries[0].number for receipt in (first, second, third)] == [1, 2, 3]
    assert finish(world.space.audit.check()) == []


def test_the_next_transaction_evaluates_the_rules_again(store: Store, asked: list[str]) -> None:
    world = World(store, MemoryLiveness())
    receipts = world.together(world.send) + world.together(world.send)
    assert asked == [receipt.message_id for receipt in receipts]


def test_each_of_several_requests_is_owed(store: Store) -> None:
    world = World(store, MemoryLiveness())
    receipts = world.together(*[partial(world.send, kind=Kind.REQUEST)] * 3)
    owed = finish(world.space.dialogue.owed_by(BOB))
    assert [ticket.message_id for ticket in owed] == [receipt.message_id for receipt in receipts]


def test_an_inbox_that_is_full_takes_no_more(store: Store) -> None:
    world = World(store, MemoryLiveness())
    small = world.bob.session._replace(capacity=Capacity(2, Overflow.HOLD))
    finish(store.commit(lambda tx: tx.sessions.put(small)))
    receipts = world.together(world.send, world.send, world.send)
    assert states(receipts) == [[DeliveryState.QUEUED], [DeliveryState.QUEUED], [DeliveryState.REFUSED]]


def test_a_full_inbox_evicts_its_oldest_message(store: Store) -> None:
    world = World(store, MemoryLiveness())
    small = world.bob.session._replace(capacity=Capacity(2, Overflow.FIRST_IN_FIRST_OUT))
    finish(store.commit(lambda tx: tx.sessions.put(small)))
    first, *later = world.together(world.send, world.send, world.send)
    left = finish(store.read(lambda tx: tx.deliveries.of_message(first.message_id)))
    assert [copy.state for copy in left] == [DeliveryState.EVICTED]
    assert states(later) == [[DeliveryState.QUEUED]] * 2


def test_a_new_status_supersedes_the_one_before(store: Store) -> None:
    world = World(store, MemoryLiveness())
    first, _ = world.together(*[partial(world.send, scope=Scope("M1"), subject=Subject("status"))] * 2)
    left = finish(store.read(lambda tx: tx.deliveries.of_message(first.message_id)))
    assert [copy.state for copy in left] == [DeliveryState.SUPERSEDED]


def test_a_sender_that_is_no_longer_allowed_is_refused(store: Store) -> None:
    world = World(store, MemoryLiveness())

    async def let_nobody(act: Act) -> None:
        await take_card(act, Card(allow_from=()))

    _, _, refused = world.together(world.send, let_nobody, world.send)
    assert refused is not None
    assert [(refused.deliveries[0].reason or "").split(":")[0]] == [RefusalCode.NOT_ALLOWED]


def test_a_paused_sender_is_refused(store: Store) -> None:
    world = World(store, MemoryLiveness())
    with pytest.raises(Paused):
        world.together(world.send, pause, world.send)


def test_a_message_with_another_trace_is_judged_by_its_own_trace(store: Store) -> None:
    world = World(store, MemoryLiveness())
    first, second = world.together(world.send, partial(world.send, trace=(BOB, ANN)))
    assert states([first, second]) == [[DeliveryState.QUEUED], [DeliveryState.REFUSED]]


SENDS: list[dict[str, Any]] = [
    {},
    {"kind": Kind.REQUEST},
    {"to": "*"},
    {"to": "ann"},
    {"scope": Scope("M1"), "subject": Subject("status")},
    {"trace": (BOB, ANN)},
]


async def come(world: World, act: Act) -> None:
    await act.tx.sessions.put(world.bob.session._replace(id=world.ids.session_id()))


async def go(world: World, act: Act) -> None:
    for session in await act.tx.sessions.of_agent(BOB):
        await end_session(act, session, "left", ())


CHANGES: list[Change] = [
    come,
    go,
    lambda _, act: take_card(act, Card(allow_from=())),
    lambda _, act: take_card(act, Card()),
    lambda _, act: take_card(act, Card(capacity=Capacity(1))),
    lambda _, act: take_card(act, Card(channel=True)),
]


@settings(max_examples=100)
@given(st.lists(st.sampled_from([*SENDS, *CHANGES]), min_size=2, max_size=12), st.booleans())
def test_steps_in_one_transaction_have_the_same_result_as_in_separate_ones(
    steps: list[dict[str, Any] | Change], in_memory: bool
) -> None:
    def world(folder: str) -> World:
        return World(MemoryStore() if in_memory else SqliteStore(f"{folder}/covey.db"), MemoryLiveness())

    def does(world: World, step: dict[str, Any] | Change) -> Callable[[Act], Awaitable[list[object]]]:
        async def do(act: Act) -> list[object]:
            if not isinstance(step, dict):
                await step(world, act)
                return []
            receipt = await world.send(act, **step)
            return [copy._replace(seq=0) for copy in receipt.deliveries]

        return do

    with TemporaryDirectory() as here, TemporaryDirectory() as there:
        one, other = world(here), world(there)
        together = one.together(*(does(one, step) for step in steps))
        apart = [other.together(does(other, step))[0] for step in steps]
        assert together == apart
        assert finish(one.space.audit.check()) == finish(other.space.audit.check())
        for each in (one, other):
            finish(each.store.close())
