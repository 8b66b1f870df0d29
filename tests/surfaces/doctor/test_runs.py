"""Children, waits and causal trees: records without a session or a message are found, and mended if possible."""

from collections.abc import Generator

import pytest

from covey.core.coroutine import finish
from covey.core.directory.card import Card
from covey.core.identity import Grade, Identity
from covey.core.names import OPERATOR, AgentName
from covey.core.work.run import Run, RunState
from covey.engines import connect_inline, locate
from covey.ports.children import ChildResult
from covey.services.children.request import SpawnRequest
from covey.services.space import Services
from tests.properties.nursery import Nursery
from tests.surfaces.doctor.inside import Inside
from tests.surfaces.doctor.patient import Patient

BOSS = Identity(OPERATOR, None, Grade.TOKEN)
CODER, CRITIC = AgentName("coder"), AgentName("critic")


@pytest.fixture
def nursery(patient: Patient) -> Generator[Services]:
    """Services of a program in the space that can start children."""
    ports = connect_inline(locate(f"sqlite:{patient.store}"), [])
    yield Services(ports, launching=lambda _: Nursery())
    finish(ports.close())


def spawned(services: Services) -> Run:
    """Let the critic spawn a child of the coder."""
    finish(services.directory.register(CODER, Card(command=("work", "{prompt}")), BOSS))
    return finish(services.spawning.spawn(SpawnRequest("look", agent=CODER), Identity(CRITIC)))


def answers(patient: Patient, run: Run) -> list[str]:
    """Return the statuses in the answers to the critic."""
    thread = patient.covey("thread", run.request, "--json").json
    return [m["marks"]["status"] for m in thread if m["kind"] == "response"]


def test_a_space_with_children_is_healthy(patient: Patient, nursery: Services) -> None:
    run = spawned(nursery)
    assert patient.codes() == []
    finish(nursery.supervision.end(run.id, ChildResult(RunState.COMPLETED, "seen")))
    assert patient.codes() == [], "whoever watched over it clears up in a moment"
    finish(nursery.upkeep.tend())
    assert patient.codes() == []
    assert answers(patient, run) == ["completed"]


@pytest.mark.parametrize(
    "harm",
    [
        "update sessions set ended_at = '2026-01-01T00:00:00.000000+00:00', end_reason = 'gone' where id = ?",
        "delete from sessions where id = ?",
    ],
)
def test_a_run_whose_session_is_gone_is_lost_and_its_parent_is_notified(
    patient: Patient, nursery: Services, harm: str
) -> None:
    run = spawned(nursery)
    patient.sql(harm, run.session)
    assert "run-sessionless" in patient.codes()
    assert patient.finding("run-sessionless")["items"] == [f"{run.id}, a child of coder for critic (running)"]
    assert patient.mend().code == 0 or "journal-disagrees" in patient.codes()
    assert "run-sessionless" not in patient.codes()
    assert answers(patient, run) == ["lost"]
    assert patient.sql("select state, is_told from runs") == [("lost", 1)]


def test_the_parent_of_a_lost_child_is_notified_once(patient: Patient, nursery: Services) -> None:
    run = spawned(nursery)
    finish(nursery.directory.leave(Identity(run.agent, run.session, Grade.SESSION)))
    assert patient.codes() == ["run-untold"]
    assert patient.finding("run-untold")["severity"] == "notice"
    for _ in range(2):
        patient.mend()
        assert patient.codes() == []
        assert answers(patient, run) == ["lost"]


def test_a_folder_that_a_child_left_is_reported(patient: Patient, nursery: Services) -> None:
    run = spawned(nursery)
    finish(nursery.supervision.end(run.id, ChildResult(RunState.COMPLETED, "seen")))
    patient.sql("update runs set ended_at = '2026-01-01T00:00:00.000000+00:00'")
    assert patient.codes() == ["run-uncleared"]
    assert patient.finding("run-uncleared")["items"] == [
        f"/runs/{run.id} of {run.id}, a child of coder for critic (completed)"
    ]
    finish(nursery.upkeep.tend())
    assert patient.codes() == []


def test_a_wait_without_a_live_session_is_removed(patient: Patient, inside: Inside) -> None:
    critic = inside.join("critic")
    assert critic.session is not None
    now = "2026-01-01T00:00:00.000000+00:00"
    later = "2999-01-01T00:00:00.000000+00:00"
    patient.sql(
        "insert into waits (asker, what, session, since, until) values ('critic', 'a@coder', ?, ?, ?)",
        critic.session,
        now,
        later,
    )
    patient.sql(
        "insert into waits (asker, what, session, since, until) values ('critic', 'b@coder', 'nobody', ?, ?)", now, now
    )
    assert patient.codes() == [], "one has its time still, the other had it"
    patient.sql(
        "insert into waits (asker, what, session, since, until) values ('critic', 'c@coder', 'nobody', ?, ?)",
        now,
        later,
    )
    assert patient.codes() == ["wait-left"]
    assert patient.finding("wait-left")["items"] == ["critic for c@coder"]
    assert patient.mend().code == 0
    assert patient.codes() == []
    assert patient.sql("select what from waits") == [("a@coder",), ("b@coder",)]
    assert patient.events("space.mended")[-1]["details"]["finding"] == "wait-left"


def test_a_tree_without_its_root_message_is_removed_although_it_is_stopped(patient: Patient) -> None:
    root = patient.ask()
    assert patient.covey("reply", root, "because", "--from", "coder").code == 0
    assert patient.sql("select root from trees") == [(root,)]
    assert patient.codes() == []
    patient.sql("update trees set root = '1767225600001-00000001-0000-4000-8000-000000000001', stopped = 'messages'")
    assert patient.codes() == ["tree-rootless"]
    assert patient.mend().code == 0
    assert patient.codes() == []
    assert patient.sql("select root from trees") == []
