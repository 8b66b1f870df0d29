"""Arbitrary calls by an agent's token, in any order: they give no mail of other agents, no other name, and no powers of
the operator."""

import os
import random
from pathlib import Path

import pytest

from covey.adapters.memory import MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.errors import BeyondToken, NotYours, TaskUnknown
from covey.core.identity import Grade, Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName, MessageId
from covey.core.work.task import TaskState
from covey.ports.work import TaskFilter
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services
from tests.properties.any_call import OTHERS, SERVICES, WHOLE, public_names
from tests.properties.holder_story import ANN, BOB, EVE, HolderStory
from tests.properties.world import finish

STORIES = int(os.environ.get("COVEY_STORIES", "120"))
STEPS = 80
SEED = int(os.environ.get("COVEY_SEED") or random.randrange(2**32))


@pytest.mark.timeout(60 + STORIES)
@pytest.mark.requirement("identity.grades")
def test_no_sequence_of_calls_by_a_token_gives_access_to_the_mail_of_others_or_to_operator_powers() -> None:
    print(f"COVEY_SEED={SEED} repeats these stories")
    refused = done = 0
    for n in range(STORIES):
        story = HolderStory(MemoryStore(), SEED + n)
        story.tell(STEPS)
        refused, done = refused + story.refused, done + story.done
    assert min(refused, done) > STORIES * STEPS // 20, "the stories go one way only"


@pytest.mark.timeout(60)
def test_no_sequence_of_calls_on_sqlite_gives_such_access(tmp_path: Path) -> None:
    print(f"COVEY_SEED={SEED} repeats these stories")
    for n in range(3):
        store = SqliteStore(tmp_path / f"{n}.db", synchronous="normal")
        HolderStory(store, SEED + n).tell(STEPS)
        finish(store.close())


def test_a_story_can_fail() -> None:
    """With services that are not narrowed, the same calls do reveal the data of other agents."""
    story = HolderStory(MemoryStore(), 0)
    story.narrow = story.wide
    with pytest.raises(AssertionError, match="another"):
        story.tell(1000)


def test_a_holder_sees_only_the_tasks_that_it_delegated_or_is_assigned() -> None:
    story = HolderStory(MemoryStore(), 0)

    def delegate(delegator: AgentName, agent: AgentName, part_of: MessageId | None = None) -> MessageId:
        draft = Draft(Kind.TASK, (parse_address(agent),), (TextPart("do it"),), relaying=part_of)
        return finish(story.wide.tasks.delegate(draft, Identity(delegator), SendPolicy())).task.id

    hers, others, to_do = delegate(EVE, BOB), delegate(ANN, BOB), delegate(ANN, EVE)
    part = delegate(BOB, ANN, hers)
    tasks, holder = story.narrow.tasks, Identity(EVE, None, Grade.TOKEN)
    assert {view.task.id for view in finish(tasks.find(TaskFilter()))} == {hers, to_do}
    assert [view.task.id for view in finish(tasks.find(TaskFilter(agent=BOB)))] == [hers]
    assert finish(tasks.find(TaskFilter(delegator=ANN, agent=BOB))) == []
    assert [view.task.id for view in finish(tasks.tree(hers))] == [hers]
    for task_id in (others, part):
        with pytest.raises(TaskUnknown):
            finish(tasks.view(task_id))
        with pytest.raises(TaskUnknown):
            finish(tasks.result(task_id, holder, 0))
        with pytest.raises(TaskUnknown):
            finish(tasks.cancel(task_id, holder))
        with pytest.raises(TaskUnknown):
            finish(story.narrow.duties.accept(task_id, holder))
    with pytest.raises(NotYours):
        finish(story.narrow.duties.accept(hers, holder))
    assert finish(story.narrow.duties.accept(to_do, holder)).state is TaskState.ACCEPTED


def test_every_service_is_called_refused_or_left_out_for_a_reason() -> None:
    missing = public_names(Services) ^ {*SERVICES, *WHOLE, *OTHERS}
    assert not missing, f"say in any_call.py what an agent's token may do with {missing}"


def test_services_for_the_whole_space_are_refused_as_a_whole() -> None:
    narrow = HolderStory(MemoryStore(), 0).narrow
    for name in WHOLE:
        arguments = [None] * {"exports": 1, "prune": 2}.get(name, 0)
        with pytest.raises(BeyondToken):
            getattr(narrow, name)(*arguments)
