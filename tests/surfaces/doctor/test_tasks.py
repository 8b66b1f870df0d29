"""Tasks: the findings of a damaged or idle space, and how the doctor mends them."""

from datetime import timedelta
from typing import Any

import pytest

from covey.core.coroutine import finish
from covey.core.names import MessageId
from tests.surfaces.doctor.inside import Inside
from tests.surfaces.doctor.patient import Patient

LONG_AGO = "2020-01-01T00:00:00.000000+00:00"
NEVER_WAS = "00000000-0000-4000-8000-000000000009"


def delegate(patient: Patient, *words: str) -> str:
    """Delegate a task from the critic to the coder; return its id."""
    said = patient.covey(
        "delegate", "do it", "--from", "critic", "--to", "coder", "--register", "--no-wait", "--json", *words
    )
    assert said.code == 0, said
    return said.json["id"]


def task(patient: Patient, task_id: str) -> Any:
    return patient.covey("task", task_id, "--json").json


def test_a_healthy_space_with_tasks_in_every_state_stays_healthy(patient: Patient) -> None:
    for _ in range(3):
        delegate(patient)
    accepted, done = delegate(patient), delegate(patient)
    for task_id in (accepted, done):
        assert patient.covey("accept", task_id, "--as", "coder").code == 0
    assert patient.covey("update", done, "--start", "--as", "coder").code == 0
    assert patient.covey("update", done, "--complete", "there", "--as", "coder").code == 0
    assert patient.codes() == []
    assert "4 unfinished tasks" in patient.covey("doctor").out


def test_a_task_without_its_message_is_failed_and_maintenance_goes_on(patient: Patient, inside: Inside) -> None:
    task_id = delegate(patient, "--deadline", "1h")
    patient.sql("delete from messages where id = ?", task_id)
    patient.sql("update tasks set deadline = ?", LONG_AGO)
    assert patient.finding("task-without-message")["items"] == [f"{task_id} for coder, from critic (pending)"]
    assert "task-overdue" not in patient.codes()
    patient.mend("--only", "task-without-message", "--agent", "lead")
    assert "task-without-message" not in patient.codes()
    (moved,) = patient.events("task.moved")
    assert (moved["actor"]["grade"], moved["details"]["to"]) == ("space", "failed")
    assert patient.events("space.mended")[0]["actor"]["agent"] == "lead"
    finish(inside.services.upkeep.tend())


@pytest.mark.parametrize("is_known", [True, False])
def test_a_task_claimed_by_an_ended_or_unknown_session_is_released(
    patient: Patient, inside: Inside, is_known: bool
) -> None:
    task_id = delegate(patient)
    coder = inside.join("coder")
    taken = finish(inside.services.duties.take(coder))
    assert taken is not None
    assert patient.codes() == []
    if is_known:
        patient.sql("update sessions set ended_at = ?, end_reason = 'nobody knows'", LONG_AGO)
    else:
        patient.sql("update tasks set claimed_by = ?", NEVER_WAS)
    finding = patient.finding("task-claim-lost")
    assert finding["items"] == [
        f"{task_id} for coder, from critic (accepted) (session {coder.session if is_known else NEVER_WAS})"
    ]
    patient.mend("--only", "task-claim-lost")
    assert not {"task-claim-lost", "task-untold"} & set(patient.codes())
    (released,) = patient.events("task.released")
    assert released["actor"]["grade"] == "space"
    again = finish(inside.services.duties.take(inside.join("coder")))
    assert again is not None
    assert (again.task.id, again.task.attempt) == (task_id, 2)


def test_an_overdue_task_is_failed_and_both_sides_are_notified(patient: Patient, inside: Inside) -> None:
    task_id = delegate(patient, "--deadline", "1h")
    coder = inside.join("coder")
    assert finish(inside.services.duties.take(coder)) is not None
    patient.sql("update tasks set deadline = ?", LONG_AGO)
    message = patient.sql("select document from messages where id = ?", task_id)[0][0]
    deadline = message.partition('"deadline":"')[2].partition('"')[0]
    patient.sql("update messages set document = replace(document, ?, ?)", deadline, LONG_AGO)
    assert patient.codes() == ["task-overdue"]
    assert patient.mend().code == 0
    assert patient.codes() == []
    assert (task(patient, task_id)["state"], task(patient, task_id)["reason"]) == ("failed", "its deadline passed")
    told = [item["text"] for item in patient.covey("inbox", "critic", "--json").json]
    assert any("its deadline passed" in text for text in told)
    assert any("Stop working" in item["text"] for item in patient.covey("inbox", "coder", "--json").json)


def test_the_delegator_of_an_abandoned_task_is_notified_once(patient: Patient, inside: Inside) -> None:
    delegate(patient)
    coder = inside.join("coder")
    assert finish(inside.services.duties.take(coder)) is not None
    finish(inside.services.directory.leave(coder))
    assert patient.codes() == ["task-untold"]
    for _ in range(2):
        assert patient.mend().code == 0
        assert patient.codes() == []
        told = [item["text"] for item in patient.covey("inbox", "critic", "--json").json]
        assert sum("The task waits for the next session." in text for text in told) == 1


def test_a_lost_record_is_rebuilt_from_the_journal(patient: Patient, inside: Inside) -> None:
    waits, taken = delegate(patient, "--scope", "T-2", "--deadline", "1h"), delegate(patient)
    part = delegate(patient, "--for", waits)
    patient.covey("accept", taken, "--as", "coder")
    before = patient.sql("select * from tasks order by id")
    patient.sql("delete from tasks")
    finding = patient.finding("task-unrecorded")
    assert sorted(finding["items"]) == sorted(f"{task_id} for coder" for task_id in (waits, taken, part))
    assert set(patient.codes()) == {"task-unrecorded", "journal-disagrees"}
    assert patient.covey("accept", waits, "--as", "coder").code == 3
    assert patient.mend("--only", "task-unrecorded").code == 0
    assert patient.codes() == []
    assert [row[1:] for row in patient.sql("select * from tasks order by id")] == [row[1:] for row in before]
    assert task(patient, taken)["state"] == "accepted"
    assert len(finish(inside.services.tasks.tree(MessageId(waits)))) == 2


def test_an_agent_over_its_quota_is_reported_and_left_alone(patient: Patient, inside: Inside) -> None:
    for _ in range(2):
        patient.covey("accept", delegate(patient), "--as", "coder")
    patient.sql("update agents set card = json_set(card, '$.quota', 1) where name = 'coder'")
    finding = patient.finding("quota-exceeded")
    assert finding["items"] == ["coder has 2 tasks, and its quota is 1"]
    assert finding["remedy"] is None
    assert patient.mend().code == 1
    assert patient.codes() == ["quota-exceeded"]


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        ("update tasks set state = 'working'", "task of"),
        ("update tasks set state = 'completed', finished_at = created_at", "waiting copies of a finished task"),
        ("update tasks set attempt = attempt + 1", "task of"),
        ("update tasks set agent = 'critic'", "task's agent of"),
        ("update tasks set delegator = 'coder'", "task's message of"),
        ("update tasks set parent = '1790000000000-00000000-0000-4000-8000-000000000001'", "parent of"),
        ("delete from journal where action = 'task.moved'", "task of"),
        ("update tasks set progress = id", "progress of"),
        ("update journal set details = json_set(details, '$.to', 'working') where action = 'task.moved'", "follows"),
    ],
)
def test_a_record_that_does_not_follow_from_the_journal_is_found(patient: Patient, harm: str, says: str) -> None:
    assert patient.covey("accept", delegate(patient), "--as", "coder").code == 0
    patient.sql(harm)
    assert any(says in item for item in patient.finding("journal-disagrees")["items"])


def test_a_task_that_the_journal_does_not_know_is_found(patient: Patient) -> None:
    task_id = delegate(patient)
    patient.sql("delete from journal where message_id = ?", task_id)
    items = patient.finding("journal-disagrees")["items"]
    assert any("an event for its delegation" in item for item in items)


def test_a_pending_task_with_a_dead_session_is_released_by_its_end(patient: Patient, inside: Inside) -> None:
    """The claiming session is dead, but not yet ended. Its end releases the task and reports the release."""
    task_id = delegate(patient)
    coder = inside.join("coder", timedelta(seconds=0))
    patient.sql(
        "update tasks set claimed_by = ?, attempt = 1, state = 'pending' where id = ?", str(coder.session), task_id
    )
    assert "expired-lease" in patient.codes()
    patient.mend("--only", "expired-lease")
    assert task(patient, task_id)["state"] == "pending"
    assert finish(inside.services.duties.take(inside.join("coder"))) is not None
