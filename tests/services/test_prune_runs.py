"""Pruning of children: an ended child is pruned with the thread of its request, and a running one keeps the thread."""

from collections.abc import Generator
from datetime import timedelta
from pathlib import Path

import pytest

from covey.adapters.memory import MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.directory.card import Card
from covey.core.errors import CoveyError, RunUnknown
from covey.core.identity import Grade, Identity
from covey.core.ledger.message import FilePart
from covey.core.names import OPERATOR
from covey.core.storms.budget import Limit
from covey.core.work.run import Run, RunState
from covey.ports.children import ChildResult
from covey.ports.store import Store, Transaction
from covey.ports.work import RunFilter
from covey.services.children.request import SpawnRequest
from tests.properties.world import finish
from tests.services.pruning import BOB, DAY, Story

BOSS = Identity(OPERATOR, None, Grade.TOKEN)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "covey.db")
    yield opened
    finish(opened.close())


def spawned(story: Story) -> Run:
    """Let ann have a child that runs as bob."""
    finish(story.services.directory.register(BOB, Card(command=("work", "{prompt}")), BOSS))
    return finish(story.services.spawning.spawn(SpawnRequest("look", agent=BOB), story.ann))


def test_a_running_child_keeps_the_thread_of_its_request(store: Store) -> None:
    story = Story(store)
    run = spawned(story)
    story.clock.advance(10 * DAY)
    assert story.prune().removed.messages == 0
    assert finish(story.services.spawning.run(run.id)).state is RunState.RUNNING
    assert story.is_there(run.request)


def test_an_ended_child_is_pruned_with_its_thread_and_leaves_nothing(store: Store) -> None:
    story = Story(store)
    run = spawned(story)
    finish(story.services.supervision.end(run.id, ChildResult(RunState.COMPLETED, "seen")))
    story.show(story.ann)
    story.clock.advance(10 * DAY)
    outcome = story.prune()
    assert (outcome.removed.messages, outcome.removed.runs) == (2, 1)
    assert story.tombstones()[0].details["runs"] == 1
    with pytest.raises(RunUnknown):
        finish(story.services.spawning.run(run.id))
    assert finish(story.services.runs.find(RunFilter())) == []
    events = finish(story.services.history.read(limit=10_000))
    assert not [event for event in events if event.message_id == run.request]
    assert story.audit() == []


def test_a_child_whose_folder_still_exists_keeps_its_thread(store: Store) -> None:
    story = Story(store)
    run = spawned(story)
    finish(story.services.supervision.end(run.id, ChildResult(RunState.COMPLETED, "seen")))
    story.show(story.ann)
    ended = finish(story.services.spawning.run(run.id))
    assert ended.folder is not None
    wanted = story.wanted()._replace(before=story.clock.now() + timedelta(days=1))
    assert story.survey(wanted).messages == 0
    finish(story.services.upkeep.tend())
    assert finish(story.services.spawning.run(run.id)).folder is None
    assert story.survey(wanted).messages == 2


def unasked(story: Story) -> Run:
    """Let a spawn fail after the session was created and before the request was sent."""
    finish(story.services.directory.register(BOB, Card(command=("work", "{prompt}")), BOSS))
    gone = FilePart("notes.txt", "text/plain", 1, "0" * 64)
    with pytest.raises(CoveyError):
        finish(story.services.spawning.spawn(SpawnRequest("look", agent=BOB, attachments=(gone,)), story.ann))
    (run,) = [view.run for view in finish(story.services.runs.find(RunFilter()))]
    assert (run.state, story.is_there(run.request)) == (RunState.FAILED, False)
    return run


def test_a_child_without_a_request_is_pruned_when_it_is_old(store: Store) -> None:
    story = Story(store)
    run = unasked(story)
    assert story.prune().removed.runs == 0, "it is young"
    story.clock.advance(10 * DAY)
    (closed,) = story.survey(story.wanted()).closed
    assert (closed.scope, closed.messages, closed.runs, closed.last_at) == (None, 0, 1, run.ended_at)
    outcome = story.prune()
    assert (outcome.removed.messages, outcome.removed.runs, outcome.survey.runs) == (0, 1, 1)
    assert story.tombstones()[0].details["runs"] == 1
    assert finish(story.services.runs.find(RunFilter())) == []
    assert not [e for e in finish(story.services.history.read(limit=10_000)) if e.message_id == run.request]
    assert story.audit() == []
    assert not any(story.prune().removed)


def test_a_prune_of_one_scope_leaves_children_without_a_request(store: Store) -> None:
    story = Story(store)
    story.dialogue("over")
    run = unasked(story)
    story.clock.advance(10 * DAY)
    outcome = story.prune(scope="over")
    assert (outcome.removed.messages > 0, outcome.removed.runs) == (True, 0)
    assert finish(story.services.spawning.run(run.id)).state is RunState.FAILED


def test_a_stopped_tree_is_forgotten_when_its_root_is_pruned(store: Store) -> None:
    story = Story(store)
    gone, held = story.dialogue("over"), story.dialogue("open")
    story.send("and?", scope="open", request=True)

    async def stop(tx: Transaction) -> None:
        for root in (gone, held):
            tree = await tx.trees.get(root)
            assert tree is not None
            await tx.trees.put(tree._replace(stopped=Limit.MESSAGES, stopped_at=story.clock.now()))

    finish(store.commit(stop))
    story.clock.advance(10 * DAY)
    story.prune()
    assert [tree.root for tree in finish(store.read(lambda tx: tx.trees.stopped()))] == [held]
    assert finish(store.read(lambda tx: tx.trees.get(gone))) is None


def test_trees_that_grow_no_longer_are_forgotten(store: Store) -> None:
    story = Story(store)
    request = story.dialogue("over")
    held = story.send("well?", request=True)
    story.show(story.bob)
    story.reply(held)
    assert finish(store.read(lambda tx: tx.trees.get(request))) is not None
    story.clock.advance(10 * DAY)
    story.prune()
    assert finish(store.read(lambda tx: tx.trees.get(request))) is None
    assert finish(store.read(lambda tx: tx.trees.get(held))) is None, "its counts begin anew with the next message"
