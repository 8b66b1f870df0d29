"""Channels: posts that would never be sent are found and mended, and dead bindings are reported."""

from collections.abc import Sequence

import pytest

from covey.core.channels.post import PostState
from covey.core.coroutine import finish
from covey.core.names import AgentName
from tests.surfaces.doctor.inside import Inside
from tests.surfaces.doctor.patient import Patient

OPS = AgentName("ops")


@pytest.fixture
def reached(patient: Patient) -> Patient:
    """The space, with a channel."""
    assert patient.covey("channels", "add", "ops", "--console").code == 0
    return patient


def posts(inside: Inside, state: PostState = PostState.PENDING) -> Sequence[str]:
    return [found.message.text for found in finish(inside.services.posts.find(OPS, state))]


def test_a_space_with_posts_is_healthy(reached: Patient, inside: Inside) -> None:
    for n in range(3):
        reached.send(f"number {n}", to="ops")
    assert reached.covey("channels", "bind", "ops", "c-1", "--to", "coder").code == 0
    assert reached.codes() == []
    (first,) = finish(inside.services.posts.take(OPS, 5)).taken
    finish(inside.services.posts.delivered(first.post.id))
    assert reached.codes() == []
    assert posts(inside) == ["number 1", "number 2"]


def test_stuck_and_missing_posts_are_found_and_mended(reached: Patient, inside: Inside) -> None:
    sent = [reached.send(f"number {n}", to="ops") for n in range(2)]
    reached.sql("delete from posts where message_id = ?", sent[0])
    found = {"post-stuck": f"{sent[1]}.1 of ops", "post-missing": f"{sent[0]}.1 to ops"}
    assert set(reached.codes()) == set(found)
    for code, item in found.items():
        assert reached.finding(code)["items"] == [item]
    assert not finish(inside.services.posts.take(OPS, 5)).taken
    assert reached.mend().code == 0
    assert reached.codes() == []
    carried: list[str] = []
    while batch := finish(inside.services.posts.take(OPS, 5)).taken:
        carried += [each.message.text for each in batch]
        for each in batch:
            finish(inside.services.posts.delivered(each.post.id))
    assert sorted(carried) == ["number 0", "number 1"]
    assert reached.codes() == []


def test_mail_from_before_the_channel_existed_can_be_posted(patient: Patient, inside: Inside) -> None:
    patient.send("early", to="ops")
    assert patient.covey("channels", "add", "ops", "--console").code == 0
    assert patient.codes() == ["post-missing"]
    assert patient.mend("--agent", "lead").code == 0
    assert posts(inside) == ["early"]
    assert patient.events("space.mended")[0]["actor"]["agent"] == "lead"


def test_a_channel_imported_without_its_secrets_is_reported(patient: Patient) -> None:
    assert patient.covey("channels", "add", "ops", "--webhook", "https://example.org/hook").code == 0
    assert patient.codes() == []
    assert patient.covey("export", "space.jsonl").code == 0
    elsewhere = ("--store", f"sqlite:{patient.folder}/other/covey.db")
    assert patient.covey("init", *elsewhere).code == 0
    assert patient.covey("import", "space.jsonl", *elsewhere).code == 0
    assert patient.codes(*elsewhere) == ["channel-incomplete"]


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        ("delete from agents where name = 'coder'", "ops 'c-1': no agent has the name coder"),
        (
            "update agents set card = json_set(card, '$.channel', json('false')) where name = 'ops'",
            "ops is not a channel",
        ),
    ],
)
def test_a_binding_to_a_missing_agent_or_channel_is_reported(reached: Patient, harm: str, says: str) -> None:
    assert reached.covey("channels", "bind", "ops", "c-1", "--to", "coder").code == 0
    assert reached.codes() == []
    reached.sql(harm)
    finding = reached.finding("binding-dead")
    assert says in finding["items"][0]
    assert finding["remedy"] is None
    assert reached.covey("channels", "unbind", "ops", "c-1").code == 0
    assert "binding-dead" not in reached.codes()


def test_a_conversation_that_is_bound_to_an_ended_session_is_reported(reached: Patient, inside: Inside) -> None:
    coder = inside.join("coder")
    assert reached.covey("channels", "bind", "ops", "c-1", "--to", str(coder.session)).code == 0
    assert reached.codes() == []
    finish(inside.services.directory.leave(coder))
    assert reached.codes() == ["binding-dead"]


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        ("update posts set state = 'delivered', next_at = null", "post of"),
        ("update posts set channel = 'coder'", "post's delivery of"),
        ("update bindings set recipient = 'critic'", "binding of"),
        ("delete from journal where action = 'channel.bound'", "binding of"),
    ],
)
def test_a_record_that_was_changed_without_the_journal_is_found(reached: Patient, harm: str, says: str) -> None:
    reached.send("hello", to="ops")
    assert reached.covey("channels", "bind", "ops", "c-1", "--to", "coder").code == 0
    assert reached.codes() == []
    reached.sql(harm)
    assert any(says in item for item in reached.finding("journal-disagrees")["items"])


def test_a_missing_post_that_the_journal_has_as_delivered_is_found(reached: Patient, inside: Inside) -> None:
    reached.send("hello", to="ops")
    (first,) = finish(inside.services.posts.take(OPS, 5)).taken
    finish(inside.services.posts.delivered(first.post.id))
    assert reached.codes() == []
    reached.sql("delete from posts")
    assert any("post of" in item for item in reached.finding("journal-disagrees")["items"])
