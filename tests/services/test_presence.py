"""Presence within one transaction: looked up once, and again if it has changed."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from covey.adapters.memory import MemoryLiveness, MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.directory.card import Card
from covey.core.directory.session import Holder
from covey.core.identity import parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.names import InboxId, parked_inbox
from covey.ports.store import Store
from covey.services.act import Act
from covey.services.directory.presence import end_session
from covey.services.mail.recipients import SendPolicy
from tests.properties.world import finish
from tests.services.together import BOB, World


def sends(world: World, change: Callable[[Act], Awaitable[object]]) -> list[list[InboxId]]:
    """Send, make a change, and send again, all in one transaction. Return the inboxes of the copies."""

    async def changed(act: Act) -> ReceiptRecord | None:
        await change(act)

    receipts = world.together(world.send, changed, world.send)
    return [[copy.inbox for copy in receipt.deliveries] for receipt in receipts if receipt is not None]


class DiesOnceSeen(MemoryLiveness):
    """A machine on which every process dies right after it was looked at."""

    def is_held(self, holder: Holder) -> bool:
        held = super().is_held(holder)
        self.kill(holder)
        return held


class CountedLooks(MemoryLiveness):
    def __init__(self) -> None:
        super().__init__()
        self.looks = 0

    def is_held(self, holder: Holder) -> bool:
        self.looks += 1
        return super().is_held(holder)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "covey.db")


async def nothing(act: Act) -> None:
    """Change nothing."""


def test_a_session_that_was_live_at_the_first_look_is_live_for_the_whole_transaction() -> None:
    world = World(MemoryStore(), DiesOnceSeen())
    # Both addresses mean the same session, so bob is looked up twice.
    to = (parse_address("bob"), parse_address(world.bob.session.id))
    finish(world.space.mail.send(Draft(Kind.NOTIFY, to, (TextPart("text"),)), world.ann.identity, SendPolicy()))
    assert finish(world.space.audit.check()) == []
    # Now that the death of bob's session is noticed, its mail waits for his next session.
    finish(world.space.upkeep.tend())
    assert world.join(BOB).adopted == 1


def test_one_transaction_looks_up_liveness_once(store: Store) -> None:
    liveness = CountedLooks()
    world = World(store, liveness)
    before = liveness.looks
    assert sends(world, nothing) == [[world.bob.session.inbox]] * 2
    assert liveness.looks == before + 1


def test_the_next_transaction_looks_up_liveness_again(store: Store) -> None:
    liveness = MemoryLiveness()
    world = World(store, liveness)
    assert sends(world, nothing) == [[world.bob.session.inbox]] * 2
    liveness.kill(world.bob.session.holder)
    assert sends(world, nothing) == [[parked_inbox(BOB)]] * 2


def test_a_session_that_ends_within_the_transaction_gets_no_later_message(store: Store) -> None:
    world = World(store, MemoryLiveness())
    ended = world.bob.session
    assert sends(world, lambda act: end_session(act, ended, "left", ())) == [[ended.inbox], [parked_inbox(BOB)]]


def test_a_session_that_joins_within_the_transaction_gets_later_messages(store: Store) -> None:
    world = World(store, MemoryLiveness())
    first, second = world.bob.session, world.bob.session._replace(id=world.ids.session_id())
    assert sends(world, lambda act: act.tx.sessions.put(second)) == [[first.inbox], [first.inbox, second.inbox]]


def test_a_card_that_changes_within_the_transaction_applies_to_later_messages(store: Store) -> None:
    world = World(store, MemoryLiveness())

    async def become_a_channel(act: Act) -> None:
        agent = await act.tx.agents.get(BOB)
        assert agent is not None
        await act.tx.agents.put(agent._replace(card=Card(channel=True)))

    # A channel has no sessions: its mail is parked with the agent.
    assert sends(world, become_a_channel) == [[world.bob.session.inbox], [parked_inbox(BOB)]]
