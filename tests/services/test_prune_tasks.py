"""Pruning of tasks: a finished task is pruned with its message and updates.

An unfinished one keeps all tasks above and below it.
"""

from collections.abc import Generator
from pathlib import Path

import pytest

from covey.adapters.memory import MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.channels.channel import console
from covey.core.errors import MessagePruned
from covey.core.identity import Grade, Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import OPERATOR, AgentName, MessageId, Scope
from covey.core.work.task import Task
from covey.ports.store import Store
from covey.services.care.retention import KeepReason, KeptScope
from covey.services.mail.recipients import SendPolicy
from tests.properties.world import finish
from tests.services.claiming import claim_next
from tests.services.pruning import ANN, BOB, DAY, OPS, Story

BOSS = Identity(OPERATOR, None, Grade.TOKEN)
PEOPLE = AgentName("people")


class Work(Story):
    """Ann delegates to bob, who delegates parts of the work to himself."""

    def delegate(self, scope: str | None = None, part_of: MessageId | None = None) -> MessageId:
        draft = Draft(
            Kind.TASK,
            (parse_address(BOB),),
            (TextPart("do it"),),
            scope=Scope(scope) if scope else None,
            relaying=part_of,
        )
        sender = self.bob if part_of else self.ann
        return finish(self.services.tasks.delegate(draft, sender, SendPolicy())).task.id

    def begin(self, task_id: MessageId) -> None:
        finish(self.services.duties.accept(task_id, self.bob))
        finish(self.services.duties.start(task_id, self.bob))
        finish(self.services.duties.progress(task_id, self.bob, (TextPart("half"),)))

    def complete(self, task_id: MessageId) -> None:
        finish(self.services.duties.complete(task_id, self.bob, (TextPart("there"),)))
        self.read()

    def read(self) -> None:
        """Show all pending messages to ann and bob."""
        for who in (self.ann, self.bob):
            self.show(who)

    def task(self, task_id: MessageId) -> Task | None:
        return finish(self.world.store.read(lambda tx: tx.tasks.get(task_id)))


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Store]:
    sqlite = request.param == "sqlite"
    store = SqliteStore(tmp_path / "covey.db", synchronous="normal") if sqlite else MemoryStore()
    yield store
    finish(store.close())


@pytest.fixture
def story(store: Store) -> Generator[Work]:
    story = Work(store)
    yield story
    assert story.audit() == []


@pytest.mark.parametrize("scope", ["T-1", None])
def test_a_finished_task_is_pruned_with_its_message_and_its_updates(story: Work, scope: str | None) -> None:
    done = story.delegate(scope)
    story.begin(done)
    story.complete(done)
    story.clock.advance(2 * DAY)
    (closed,) = story.survey(story.wanted()).closed
    assert (closed.messages, closed.tasks) == (5, 1)
    removed = story.prune().removed
    assert (removed.messages, removed.tasks) == (5, 1)
    assert story.task(done) is None
    assert story.tombstones()[0].details["tasks"] == 1
    with pytest.raises(MessagePruned):
        finish(story.services.duties.accept(done, story.bob))
    with pytest.raises(MessagePruned):
        finish(story.services.tasks.view(done))


@pytest.mark.parametrize("state", ["pending", "working"])
def test_an_unfinished_task_stays_even_if_its_message_was_settled(story: Work, state: str) -> None:
    task_id = story.delegate("T-1")
    if state == "working":
        story.begin(task_id)
    story.read()
    finish(story.services.mail.settle(task_id, story.bob))
    story.clock.advance(2 * DAY)
    assert story.survey(story.wanted()).stays == [KeptScope(Scope("T-1"), KeepReason.OPEN)]
    assert story.prune().removed.messages == 0
    assert story.task(task_id) is not None
    finish(story.services.tasks.cancel(task_id, story.ann))
    story.read()
    story.clock.advance(2 * DAY)
    assert story.prune().removed.tasks == 1


def test_a_scope_with_an_unfinished_task_is_open_however_young_it_is(story: Work) -> None:
    task_id = story.delegate("T-1")
    finish(story.services.mail.settle(task_id, story.bob))
    assert story.survey(story.wanted()).stays == [KeptScope(Scope("T-1"), KeepReason.OPEN)]


def test_a_finished_part_stays_while_the_whole_is_not_finished(story: Work) -> None:
    whole = story.delegate("T-1")
    story.begin(whole)
    part = story.delegate("T-2", part_of=whole)
    story.begin(part)
    story.complete(part)
    story.clock.advance(2 * DAY)
    assert {stays.scope for stays in story.survey(story.wanted()).stays} == {"T-1", "T-2"}
    assert story.prune().removed.tasks == 0
    story.complete(whole)
    story.clock.advance(2 * DAY)
    assert story.prune().removed.tasks == 2


def test_a_finished_whole_stays_while_a_part_of_a_part_is_not_finished(story: Work) -> None:
    whole = story.delegate("T-1")
    story.begin(whole)
    part = story.delegate("T-2", part_of=whole)
    story.begin(part)
    last = story.delegate("T-3", part_of=part)
    story.begin(last)
    for task_id in (part, whole):
        story.complete(task_id)
    story.clock.advance(2 * DAY)
    assert story.prune().removed.tasks == 0
    story.complete(last)
    story.clock.advance(2 * DAY)
    assert story.prune().removed.tasks == 3


def test_a_part_stays_valid_after_its_whole_task_was_pruned(story: Work) -> None:
    """Both tasks are finished, and the whole one is older."""
    whole = story.delegate("T-1")
    story.begin(whole)
    part = story.delegate("T-2", part_of=whole)
    story.begin(part)
    story.complete(part)
    story.complete(whole)
    story.clock.advance(2 * DAY)
    story.send("something new", scope="T-2")
    story.read()
    assert story.prune().removed.tasks == 1
    assert story.task(whole) is None
    assert [view.task.id for view in finish(story.services.tasks.tree(part))] == [part]
    assert {ANN, BOB} == {agent.name for agent in finish(story.services.directory.agents())}


def test_a_claim_counts_as_activity(story: Work) -> None:
    task_id = story.delegate()
    story.clock.advance(2 * DAY)
    assert finish(claim_next(story.services, story.bob)) is not None
    finish(story.services.tasks.cancel(task_id, story.ann))
    story.read()
    assert story.prune().removed.messages == 0


def test_a_delivered_post_is_pruned_with_its_message_and_a_pending_one_stays(story: Work) -> None:
    services = story.services
    finish(services.channels.add(console(PEOPLE), BOSS))
    sent = [
        finish(
            services.mail.send(
                Draft(Kind.NOTIFY, (parse_address(PEOPLE),), (TextPart(f"{n}"),)), Identity(OPS), SendPolicy()
            )
        )
        for n in range(3)
    ]
    (first,) = finish(services.posts.take(PEOPLE, 5)).taken
    finish(services.posts.delivered(first.post.id))
    finish(services.mail.settle(sent[1].message_id, Identity(PEOPLE)))
    story.clock.advance(2 * DAY)
    removed = story.prune().removed
    assert (removed.messages, removed.posts) == (1, 1)
    # The second post is over, but the channel has to notice that before it takes the third.
    (third,) = [batch for _ in range(2) for batch in finish(services.posts.take(PEOPLE, 5)).taken]
    assert third.message.text == "2"
    finish(services.posts.delivered(third.post.id))
    story.clock.advance(2 * DAY)
    removed = story.prune().removed
    assert (removed.messages, removed.posts) == (2, 2)
