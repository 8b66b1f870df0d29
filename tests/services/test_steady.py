"""Who is there, for all that is committed together: found once, and found anew when it has changed."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from covey.adapters.memory import MemoryLiveness, MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.address import parse_address
from covey.core.directory.card import Card
from covey.core.directory.session import Holder
from covey.core.ids import InboxId, parked_inbox
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.receipt import Receipt
from covey.ports.store import Store
from covey.services.act import Act
from covey.services.directory.presence import end_session
from covey.services.mail.recipients import SendPolicy
from tests.properties.world import finish
from tests.services.together import BOB, World


def sends(world: World, change: Callable[[Act], Awaitable[object]]) -> list[list[InboxId]]:
    """Send, let something change, and send again, all in one transaction; return where the copies went."""

    async def changed(act: Act) -> Receipt | None:
        await change(act)

    receipts = world.together(world.send, changed, world.send)
    return [[copy.inbox for copy in receipt.deliveries] for receipt in receipts if receipt is not None]


class DiesOnceSeen(MemoryLiveness):
    """A machine on which whoever was looked at dies the next moment."""

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
    """Let everything stay as it is."""


def test_who_was_live_at_the_first_look_is_live_for_the_whole_transaction() -> None:
    world = World(MemoryStore(), DiesOnceSeen())
    # Both addresses mean the one session, so bob is looked at twice.
    to = (parse_address("bob"), parse_address(world.bob.session.id))
    finish(world.space.mail.send(Draft(Kind.NOTIFY, to, (TextPart("text"),)), world.ann.identity, SendPolicy()))
    assert finish(world.space.audit.check()) == []
    # Now that his death is noticed, what he leaves waits for the next.
    finish(world.space.upkeep.tend())
    assert world.join(BOB).adopted == 1


def test_what_is_committed_together_looks_once(store: Store) -> None:
    liveness = CountedLooks()
    world = World(store, liveness)
    before = liveness.looks
    assert sends(world, nothing) == [[world.bob.session.inbox]] * 2
    assert liveness.looks == before + 1


def test_the_next_transaction_looks_again(store: Store) -> None:
    liveness = MemoryLiveness()
    world = World(store, liveness)
    assert sends(world, nothing) == [[world.bob.session.inbox]] * 2
    liveness.kill(world.bob.session.holder)
    assert sends(world, nothing) == [[parked_inbox(BOB)]] * 2


def test_a_session_that_ends_in_between_gets_nothing_more(store: Store) -> None:
    world = World(store, MemoryLiveness())
    ended = world.bob.session
    assert sends(world, lambda act: end_session(act, ended, "left", ())) == [[ended.inbox], [parked_inbox(BOB)]]


def test_a_session_that_joins_in_between_gets_what_follows(store: Store) -> None:
    world = World(store, MemoryLiveness())
    first, second = world.bob.session, world.bob.session._replace(id=world.ids.session_id())
    assert sends(world, lambda act: act.tx.sessions.put(second)) == [[first.inbox], [first.inbox, second.inbox]]


def test_a_card_that_changes_in_between_counts_for_what_follows(store: Store) -> None:
    world = World(store, MemoryLiveness())

    async def become_a_channel(act: Act) -> None:
        agent = await act.tx.agents.get(BOB)
        assert agent is not None
        await act.tx.agents.put(agent._replace(card=Card(channel=True)))

    # A channel has no sessions: its mail waits with the agent.
    assert sends(world, become_a_channel) == [[world.bob.session.inbox], [parked_inbox(BOB)]]
