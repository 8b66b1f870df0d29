"""The status of a space: the state of its agents, mail, questions, tasks and pauses in one snapshot."""

from datetime import timedelta
from pathlib import Path

import pytest

from covey.core.directory.card import Presence
from covey.core.identity import Grade, Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.offer import EvidenceGrade
from covey.core.names import OPERATOR, AgentName
from covey.core.work.task import TaskState
from covey.services.care.status import AgentStatus, SpaceStatus
from covey.services.mail.recipients import SendPolicy
from tests.properties.world import finish
from tests.services.spaces import Space, in_memory, in_sqlite

pytestmark = pytest.mark.requirement("first.status")

ANN, BOB = AgentName("ann"), AgentName("bob")
ADMIN = Identity(OPERATOR, None, Grade.TOKEN)


@pytest.fixture(params=["memory", "sqlite"])
def space(request: pytest.FixtureRequest, tmp_path: Path) -> Space:
    return in_memory() if request.param == "memory" else in_sqlite(tmp_path / "covey.db")


def status(space: Space) -> SpaceStatus:
    return finish(space.services.status.read())


def agent(space: Space, name: AgentName) -> AgentStatus:
    return next(found for found in status(space).agents if found.view.name == name)


def test_live_agents_come_first(space: Space) -> None:
    space.send(space.join(BOB), "ann", "Hello.")
    assert [(a.view.name, a.view.presence) for a in status(space).agents] == [
        (BOB, Presence.IDLE),
        (ANN, Presence.OFFLINE),
    ]


def test_mail_is_unseen_until_it_was_in_the_context(space: Space) -> None:
    ann, bob = space.join(ANN), space.join(BOB)
    first = space.clock.now()
    space.send(bob, "ann", "One.")
    space.clock.advance(300)
    space.send(bob, "ann", "Two.")
    assert agent(space, ANN)[1:3] == (2, first)
    showing = finish(space.services.offers.offer(ann, "turn-1"))
    assert agent(space, ANN).unseen == 2  # an offer alone proves nothing
    assert showing is not None
    finish(space.services.offers.confirm(showing.offer.id, ann, EvidenceGrade.WITNESSED, "the model answered"))
    assert agent(space, ANN)[1:3] == (0, None)


def test_a_question_is_owed_until_it_is_answered_and_overdue_after_its_time(space: Space) -> None:
    ann, bob = space.join(ANN), space.join(BOB)
    draft = Draft(
        Kind.REQUEST,
        (parse_address("bob"),),
        (TextPart("Why?"),),
        expects_reply=True,
        deadline=space.clock.now() + timedelta(minutes=1),
    )
    question = finish(space.services.mail.send(draft, ann, SendPolicy())).message_id
    assert (len(agent(space, BOB).owed), agent(space, BOB).overdue) == (1, 0)
    space.clock.advance(120)
    assert (len(status(space).owed), agent(space, BOB).overdue) == (1, 1)
    space.send(bob, "ann", "Because.", kind=Kind.RESPONSE, answers=question)
    assert (status(space).owed, agent(space, BOB).overdue) == ([], 0)


def test_tasks_are_listed_until_they_are_finished(space: Space) -> None:
    ann, _ = space.join(ANN), space.join(BOB)
    draft = Draft(Kind.TASK, (parse_address("bob"),), (TextPart("Sort the files."),))
    task = finish(space.services.tasks.delegate(draft, ann, SendPolicy())).task
    assert [(t.agent, t.state) for t in status(space).tasks] == [(BOB, TaskState.PENDING)]
    assert agent(space, BOB).tasks == status(space).tasks
    finish(space.services.tasks.cancel(task.id, ann))
    assert status(space).tasks == []


def test_the_current_task_is_the_oldest_one_that_the_agent_works_on(space: Space) -> None:
    ann, bob = space.join(ANN), space.join(BOB)
    drafts = [Draft(Kind.TASK, (parse_address("bob"),), (TextPart(text),)) for text in ("One.", "Two.")]
    _, second = [finish(space.services.tasks.delegate(draft, ann, SendPolicy())).task for draft in drafts]
    assert agent(space, BOB).current is None
    finish(space.services.duties.accept(second.id, bob))
    current = agent(space, BOB).current
    assert current is not None
    assert current.text == "Two."


def test_a_pause_of_the_space_is_shown(space: Space) -> None:
    space.join(ANN)
    assert status(space).pause is None
    finish(space.services.pauses.pause(None, ADMIN, "maintenance"))
    paused = status(space)
    assert paused.pause is not None
    assert (paused.pause.reason, paused.agents[0].view.pause) == ("maintenance", paused.pause)


def test_the_holder_of_an_agents_token_sees_its_own_mail_alone(space: Space) -> None:
    ann, bob = space.join(ANN), space.join(BOB)
    space.send(bob, "ann", "For ann.")
    space.send(ann, "bob", "For bob.")
    narrow = space.services.narrowed_to(Identity(ANN, None, Grade.TOKEN))
    seen = {a.view.name: a.unseen for a in finish(narrow.status.read()).agents}
    assert seen == {ANN: 1, BOB: None}
