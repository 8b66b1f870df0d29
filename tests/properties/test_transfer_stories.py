"""Random stories in a space that moves from store to store: nothing is lost, nothing is added, and the audit finds no
fault."""

import os
import random
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from covey.adapters.memory import MemoryStore, MemoryViews
from covey.adapters.sqlite.care.views import SqliteViews
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.ledger.delivery import WAITING, DeliveryRecord
from covey.core.names import DeliveryId
from covey.core.work.run import RunMove, run_moved
from covey.core.work.task import abandoned
from covey.ports.store import Transaction
from covey.ports.views import Views
from covey.services.transfer.imports import LEFT_BEHIND
from covey.testing.fakes import HandClock
from tests.properties.channel_moves import ChannelMoves
from tests.properties.dialogue_moves import DialogueMoves
from tests.properties.directory_moves import DirectoryMoves
from tests.properties.mail_moves import MailMoves
from tests.properties.moves import Step, steps_of
from tests.properties.offer_moves import OfferMoves
from tests.properties.run_moves import RunMoves
from tests.properties.sameness import Known, Snapshot, snapshot
from tests.properties.task_moves import TaskMoves
from tests.properties.twins import NotPossible
from tests.properties.world import World, finish
from tests.services.transferring import (
    Everything,
    check_equal,
    check_same,
    check_sound,
    everything,
    exported,
    imported,
)

EXAMPLES = int(os.environ.get("COVEY_STORIES", "30"))
STEPS = int(os.environ.get("COVEY_STORY_STEPS", "50"))
SEED = int(os.environ.get("COVEY_SEED") or random.randrange(2**32))


class Moves(MailMoves, OfferMoves, DialogueMoves, DirectoryMoves, TaskMoves, ChannelMoves, RunMoves):
    """All moves together."""


class MovingSpaces(Moves):
    @rule(step=steps_of(Moves))
    def go_on(self, step: Step) -> None:
        with suppress(NotPossible):
            getattr(self, step.move)(**step.arguments)

    @invariant()
    def both_are_sound(self) -> None:
        """Only refresh the state of the story: another test checks every step."""
        known = Known([s.id for s in self.sessions], [offer for offer, _ in self.offers])

        async def look(tx: Transaction) -> Snapshot:
            return await snapshot(tx, known)

        self.before = finish(self.worlds[0].store.read(look))
        self.messages = list(self.before.messages)
        self.tickets = list(self.before.tickets)

    def teardown(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="covey-moving-"))
        try:
            self._move(folder)
        finally:
            shutil.rmtree(folder)
            super().teardown()

    def _move(self, folder: Path) -> None:
        """Move the space from the SQLite twin into memory, and from there into another SQLite store."""
        memory, store = MemoryStore(), SqliteStore(folder / "covey.db", synchronous="normal")
        first, second, third = (
            SqliteViews(self._folder / "covey.db"),
            MemoryViews(memory),
            SqliteViews(folder / "covey.db"),
        )
        here, there = World(memory, HandClock()), World(store, HandClock())
        try:
            _arrive(exported(self.worlds[1].processes[0].services, first), here, second)
            _check_kept(everything(first), everything(second))
            # In the second space every session has ended, so nothing more changes on the way to the third.
            _arrive(exported(here.processes[0].services, second), there, third)
            check_same(second, third)
        finally:
            finish(store.close())


def _arrive(lines: list[bytes], world: World, views: Views) -> None:
    """Import an export twice: the second import changes nothing."""
    services = world.processes[0].services
    assert imported(services, lines).is_new
    check_sound(services)
    before = everything(views)
    assert not imported(services, lines).is_new
    check_equal(everything(views), before, Everything._fields)


def _check_kept(old: Everything, new: Everything) -> None:
    """Check that everything is unchanged, except live sessions, their offers, and the mail in their inboxes."""
    check_equal(old, new, ("agents", "settings", "tokens", "pruned", "messages", "tickets", "bindings"))
    assert new.events[: len(old.events)] == old.events
    live = {session.id for session in old.sessions if not session.has_ended}
    assert all(session.has_ended for session in new.sessions)
    assert [s for s in new.sessions if s.id not in live] == [s for s in old.sessions if s.id not in live]
    assert [o for o in new.offers if o.session not in live] == [o for o in old.offers if o.session not in live]
    _check_tasks(old, new)
    _check_runs(old, new)
    moved = {delivery.id for delivery in old.deliveries if delivery.state in WAITING and delivery.session in live}
    assert _still(new, moved) == _still(old, moved)
    # Mail that was in one inbox and is parked now keeps its order.
    parked = [delivery.id for delivery in new.deliveries if delivery.id in moved and delivery.is_parked]
    for session_id in live:
        here = [delivery.id for delivery in old.deliveries if delivery.session == session_id]
        assert [item for item in parked if item in here] == [item for item in here if item in parked]


def _check_tasks(old: Everything, new: Everything) -> None:
    """Check that claimed tasks wait for the next session, and that all else is unchanged and in order."""
    assert [task.id for task in new.tasks] == [task.id for task in old.tasks]
    for before, after in zip(old.tasks, new.tasks, strict=True):
        if before.claimed_by is None:
            assert after == before
        else:
            left = abandoned(before, after.updated_at)
            assert after == left
    assert [post._replace(next_at=None) for post in new.posts] == [post._replace(next_at=None) for post in old.posts]


def _check_runs(old: Everything, new: Everything) -> None:
    """Check that running children are lost, and that all else is unchanged and in order."""
    assert [run.id for run in new.runs] == [run.id for run in old.runs]
    for before, after in zip(old.runs, new.runs, strict=True):
        if before.has_ended:
            assert after == before
        else:
            assert after.ended_at is not None
            assert after == run_moved(before, RunMove.LOSE, after.ended_at, LEFT_BEHIND)._replace(is_told=False)


def _still(space: Everything, moved: set[DeliveryId]) -> list[DeliveryRecord]:
    """Return the deliveries that did not change, in order."""
    return [delivery._replace(seq=0) for delivery in space.deliveries if delivery.id not in moved]


@pytest.mark.timeout(60 + EXAMPLES * STEPS // 10)
def test_a_space_survives_a_transfer_after_any_story() -> None:
    print(f"COVEY_SEED={SEED} repeats these stories")
    run_state_machine_as_test(
        seed(SEED)(MovingSpaces),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
        ),
    )
