"""The audit of tasks and posts: it finds exactly the records that were changed without the journal."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest

from covey.adapters.memory import MemoryStore
from covey.core.channels.channel import console
from covey.core.channels.post import Binding, Post, PostState
from covey.core.identity import Grade, Identity, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import OPERATOR, AgentName, DeliveryId, MessageId, SessionId, delivery_id, delivery_message
from covey.core.work.task import Task, TaskState
from covey.ports.store import Transaction
from covey.services.directory.directory import JoinRequest
from covey.services.mail.recipients import SendPolicy
from covey.testing.fakes import HandClock
from covey.testing.records import START, a_message_id, a_task
from tests.properties.world import World, finish

ANN, BOB, PEOPLE = AgentName("ann"), AgentName("bob"), AgentName("people")
BOSS = Identity(OPERATOR, None, Grade.TOKEN)


class Story(NamedTuple):
    """A space with tasks in every state, and a channel."""

    world: World
    pending: MessageId
    working: MessageId
    abandoned: MessageId
    done: MessageId
    ended: SessionId
    """A session of bob's that has ended."""
    posted: DeliveryId

    def audit(self) -> list[str]:
        """Return the complaints of the audit."""
        return [fault.what for fault in finish(self.world.processes[0].services.audit.check())]


@pytest.fixture
def story() -> Story:
    world = World(MemoryStore(), HandClock())
    services = world.processes[0].services
    ann = finish(services.directory.join(JoinRequest(ANN))).identity
    former, bob = (finish(services.directory.join(JoinRequest(BOB))).identity for _ in range(2))
    assert former.session is not None
    finish(services.channels.add(console(PEOPLE), BOSS))
    finish(services.channels.bind(PEOPLE, "c-1", parse_address(BOB), BOSS))

    def send(kind: Kind, to: AgentName) -> MessageId:
        return finish(
            services.mail.send(Draft(kind, (parse_address(to),), (TextPart("do it"),)), ann, SendPolicy())
        ).message_id

    pending, working, abandoned, done = (send(Kind.TASK, BOB) for _ in range(4))
    finish(services.duties.accept(abandoned, former))
    finish(services.directory.leave(former))
    for task_id in (working, done):
        finish(services.duties.accept(task_id, bob))
        finish(services.duties.start(task_id, bob))
        finish(services.duties.progress(task_id, bob, (TextPart("half"),)))
    finish(services.duties.complete(done, bob, (TextPart("there"),)))
    posted = delivery_id(send(Kind.NOTIFY, PEOPLE), 1)
    finish(services.posts.take(PEOPLE, 1))
    finish(services.posts.delivered(posted))
    return Story(world, pending, working, abandoned, done, former.session, posted)


def test_a_space_that_followed_the_rules_has_no_faults(story: Story) -> None:
    assert story.audit() == []


Damage = Callable[[Transaction, Story], Awaitable[object]]


def task_with(which: str, **fields: Any) -> Damage:
    """Change the record of a task."""

    async def damage(tx: Transaction, story: Story) -> None:
        task = await tx.tasks.get(getattr(story, which))
        assert task is not None
        await tx.tasks.put(Task(**{**task._asdict(), **fields}))

    return damage


def post_with(**fields: Any) -> Damage:
    async def damage(tx: Transaction, story: Story) -> None:
        post = await tx.posts.get(story.posted)
        assert post is not None
        await tx.posts.put(Post(**{**post._asdict(), **fields}))

    return damage


async def _held_by_the_ended(tx: Transaction, story: Story) -> None:
    await task_with("working", claimed_by=story.ended)(tx, story)


async def _unheard_of(tx: Transaction, _story: Story) -> None:
    await tx.tasks.put(a_task(77))


async def _no_task(tx: Transaction, story: Story) -> None:
    await tx.tasks.put(a_task()._replace(id=delivery_message(story.posted)))


async def _waits(tx: Transaction, story: Story) -> None:
    copy = await tx.deliveries.get(delivery_id(story.done, 1))
    assert copy is not None
    await tx.deliveries.place(copy._replace(state=DeliveryState.QUEUED))


async def _result_elsewhere(tx: Transaction, story: Story) -> None:
    await task_with("done", result=story.pending)(tx, story)


async def _bound_unheard(tx: Transaction, _story: Story) -> None:
    await tx.bindings.put(Binding(PEOPLE, "c-2", parse_address(ANN), START))


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (task_with("pending", state=TaskState.ACCEPTED), "task"),
        (task_with("working", state=TaskState.ACCEPTED), "task"),
        (task_with("working", claimed_by=None), "task"),
        (task_with("working", attempt=2), "task"),
        (task_with("abandoned", abandoned_at=None), "task"),
        (task_with("done", reason="because"), "task"),
        (task_with("done", state=TaskState.FAILED), "task"),
        (task_with("done", finished_at=None), "finish"),
        (task_with("done", abandoned_at=START), "claim"),
        (task_with("working", abandoned_at=START), "claim"),
        (task_with("pending", abandoned_at=START), "claim"),
        (task_with("working", progress=None), "task"),
        (task_with("working", agent=ANN), "task's agent"),
        (task_with("working", delegator=BOB), "task's message"),
        (task_with("working", deadline=START), "task's message"),
        (task_with("pending", parent=a_message_id(77)), "parent"),
        (_held_by_the_ended, "tasks of"),
        (_unheard_of, "event"),
        (_no_task, "task's message"),
        (_waits, "waiting copies of a finished task"),
        (_result_elsewhere, "result"),
        (post_with(state=PostState.PENDING), "post"),
        (post_with(channel=BOB), "post's delivery"),
        (post_with(holder="lock"), "post"),
        (_bound_unheard, "binding"),
    ],
)
def test_damage_is_found(story: Story, damage: Damage, complaint: str) -> None:
    finish(story.world.store.commit(lambda tx: damage(tx, story)))
    assert complaint in story.audit()
