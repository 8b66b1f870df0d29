"""The records: sessions, offers, inboxes, tickets and the journal."""

import re
from datetime import timedelta
from typing import Any

import pytest

from covey.core.coroutine import finish
from tests.surfaces.doctor.inside import Inside
from tests.surfaces.doctor.patient import Patient

AT_ONCE = timedelta(0)
LONG_AGO = "2020-01-01T00:00:00.000000+00:00"
STRANGER = "session:00000000-0000-4000-8000-000000000009"


def copy(patient: Patient, message_id: str) -> Any:
    (found,) = patient.covey("receipt", message_id, "--json").json["deliveries"]
    return found


def expire(patient: Patient, inside: Inside) -> None:
    """Let everything that is queued expire, and let maintenance record it."""
    patient.sql("update deliveries set expires_at = ? where state = 'queued'", LONG_AGO)
    finish(inside.services.upkeep.tend())


def test_a_session_whose_heartbeat_stopped_is_ended_and_its_mail_is_parked(patient: Patient, inside: Inside) -> None:
    inside.join("coder", AT_ONCE)
    finding = patient.finding("expired-lease")
    assert "agent:coder:main" in finding["items"][0]
    assert "its heartbeat stopped" in finding["items"][0]
    assert patient.codes() == ["expired-lease"]
    assert patient.mend("--agent", "lead").code == 0
    assert patient.codes() == []
    (waiting,) = patient.covey("inbox", "coder", "--json").json
    assert waiting["parked"] is True
    (mended,) = patient.events("space.mended")
    assert (mended["actor"]["agent"], mended["details"]["finding"]) == ("lead", "expired-lease")
    (ended,) = patient.events("session.ended")
    assert ended["actor"]["grade"] == "space"


def test_an_offer_whose_lease_is_over_is_returned(patient: Patient, inside: Inside) -> None:
    asked = patient.ask()
    inside.show(inside.join("coder"), AT_ONCE)
    finding = patient.finding("stuck-offer")
    assert finding["what"].startswith("2 messages still offered")
    assert any(asked in item for item in finding["items"])
    assert patient.codes() == ["stuck-offer"]
    assert patient.mend().code == 0
    assert copy(patient, asked)["state"] == "queued"
    assert patient.codes() == []


def test_an_offer_with_a_running_lease_is_left_alone(patient: Patient, inside: Inside) -> None:
    inside.show(inside.join("coder"))
    assert patient.codes() == []
    assert "1 message shown, waiting for evidence" in patient.covey("doctor").out


@pytest.mark.parametrize(
    "harm",
    [
        "update deliveries set lease_until = null where state = 'offered'",
        "update offers set ended_at = offered_at, end_reason = 'nobody knows'",
        "delete from offers",
        "update offers set deliveries = '[]', ended_at = offered_at, end_reason = 'nobody knows'",
    ],
)
def test_a_delivery_that_no_offer_will_ever_return_is_returned(patient: Patient, inside: Inside, harm: str) -> None:
    asked = patient.ask()
    inside.show(inside.join("coder"))
    patient.sql(harm)
    assert set(patient.codes()) == {"stuck-offer", "journal-disagrees"}
    assert patient.mend().code == 0
    assert copy(patient, asked)["state"] == "queued"
    assert patient.codes() == []


@pytest.mark.requirement("dialogue.doctor")
def test_an_inbox_without_its_agent_is_an_orphan_until_it_is_mended(patient: Patient) -> None:
    first = patient.send("one")
    patient.sql("delete from agents where name = 'coder'")
    refused = patient.covey("inbox", "coder", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (3, "messages-orphan-inbox")
    assert patient.covey("messages-inbox", "--agent", "coder").json["error"]["code"] == "messages-orphan-inbox"
    assert "covey doctor" in patient.covey("inbox", "coder").err
    finding = patient.finding("messaging-orphan-inbox")
    assert finding["what"] == "2 messages in 1 inbox without an owner"
    assert finding["items"] == ["agent:coder (2 waiting; no agent has the name coder)"]
    assert set(patient.codes()) == {"messaging-orphan-inbox", "unanswerable-ticket", "journal-disagrees"}
    assert patient.mend("--agent", "lead").code == 0
    assert patient.codes() == []
    assert [item["number"] for item in patient.covey("inbox", "coder", "--json").json] == [1, 2]
    assert patient.covey("owed", "coder", "--json").json[0]["state"] == "open"
    assert copy(patient, patient.send("two"))["number"] == 3
    assert copy(patient, first)["state"] == "queued"
    assert patient.codes() == []


def test_mail_of_an_unknown_session_goes_to_its_agent(patient: Patient) -> None:
    asked = patient.ask()
    patient.sql("update deliveries set inbox = ?", STRANGER)
    assert {"messaging-orphan-inbox", "store-miscounted"} <= set(patient.codes())
    assert patient.finding("messaging-orphan-inbox")["items"] == [f"{STRANGER} (2 waiting; there is no such session)"]
    assert patient.mend().code == 0
    assert copy(patient, asked)["parked"] is True
    assert len(patient.covey("inbox", "coder", "--json").json) == 2
    assert patient.codes() == []


def test_mail_in_the_inbox_of_an_ended_session_goes_to_a_sibling(patient: Patient, inside: Inside) -> None:
    over, sibling = inside.join("coder"), inside.join("coder")
    finish(inside.services.directory.leave(over))
    asked = patient.ask()
    patient.sql("update deliveries set inbox = ?", f"session:{over.session}")
    assert "the session of coder has ended" in patient.finding("messaging-orphan-inbox")["items"][0]
    assert patient.mend().code == 0
    assert copy(patient, asked)["session"] == sibling.session
    assert patient.codes() == []


def test_mail_to_a_session_that_may_still_join_is_left_alone(patient: Patient) -> None:
    patient.sql("update deliveries set inbox = ?, agent = null, expires_at = '2999-01-01T00:00:00+00:00'", STRANGER)
    assert "messaging-orphan-inbox" not in patient.codes()


def test_mail_to_an_unknown_session_without_an_agent_expires(patient: Patient) -> None:
    asked = patient.ask()
    patient.sql("update deliveries set inbox = ?, agent = null, expires_at = null", STRANGER)
    assert "messaging-orphan-inbox" in patient.codes()
    patient.mend()
    assert copy(patient, asked)["state"] == "expired"
    assert "messaging-orphan-inbox" not in patient.codes()


@pytest.mark.requirement("dialogue.doctor")
def test_a_debt_that_no_agent_can_pay_is_closed_and_the_gate_opens(patient: Patient, inside: Inside) -> None:
    expire(patient, inside)
    alive = patient.send("and this?", "--request", "--scope", "T-2", "--subject", "style")
    finding = patient.finding("unanswerable-ticket")
    assert "asked by critic in T-1: the request was expired" in finding["items"][0]
    assert patient.codes() == ["unanswerable-ticket"]
    assert patient.covey("gate", "T-1").code == 1
    assert patient.mend("--agent", "lead").code == 0
    assert patient.codes() == []
    assert patient.covey("gate", "T-1").code == 0
    assert patient.covey("gate", "T-2").code == 1
    (owed,) = patient.covey("owed", "coder", "--json").json
    assert owed["message"] == alive
    *_, forced = patient.events("ticket.moved")
    assert (forced["actor"]["agent"], forced["details"]["move"]) == ("lead", "force")


def test_a_debt_whose_request_is_in_no_inbox_is_found(patient: Patient) -> None:
    patient.sql("delete from deliveries")
    patient.sql("delete from inboxes")
    assert "the request is in no inbox" in patient.finding("unanswerable-ticket")["items"][0]
    patient.mend()
    assert patient.codes() == ["journal-disagrees"]


def test_a_debt_of_an_offline_agent_is_no_finding(patient: Patient) -> None:
    assert patient.codes() == []
    assert "1 answer owed that can be given" in patient.covey("doctor").out


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        ("update deliveries set state = 'handled'; delete from inboxes", "delivery of"),
        ("delete from journal where action = 'message.sent'", "an event for its sending"),
        ("update tickets set state = 'closed', closed_at = opened_at, close_reason = 'waive'", "ticket of"),
        (
            "update journal set action = 'delivery.moved' where action = 'message.sent'",
            "follows from the earlier events",
        ),
    ],
)
def test_a_record_that_was_changed_without_the_journal_is_found_and_left_to_people(
    patient: Patient, harm: str, says: str
) -> None:
    patient.sql(harm)
    finding = patient.finding("journal-disagrees")
    assert any(says in item for item in finding["items"])
    assert finding["remedy"] is None
    before = patient.sql("select count(*) from journal")
    assert patient.mend("--only", "journal-disagrees").code == 1
    assert patient.sql("select count(*) from journal") == before


def test_long_lists_of_items_are_cut_for_people_and_complete_in_json(patient: Patient) -> None:
    for n in range(12):
        patient.send(f"number {n}")
    patient.sql("update deliveries set state = 'handled'")
    patient.sql("delete from inboxes")
    items = patient.finding("journal-disagrees")["items"]
    out = patient.covey("doctor").out
    assert len(items) > 12
    assert f"… and {len(items) - 8} more: --json lists them all" in out


@pytest.mark.requirement("dialogue.doctor")
def test_an_offline_agent_that_owes_an_answer_is_a_remark_and_no_fault(patient: Patient, inside: Inside) -> None:
    (asked,) = [item["id"] for item in patient.covey("inbox", "coder", "--json").json]
    document = patient.covey("doctor", "--json").json
    (remark,) = document["remarks"]
    assert (document["healthy"], document["findings"]) == (True, [])
    assert (remark["code"], remark["severity"], remark["area"]) == ("offline-agent-owes", "remark", "tickets")
    assert remark["what"] == "1 answer owed by 1 offline agent"
    (item,) = remark["items"]
    assert re.fullmatch(r"coder: 1 answer, the oldest to critic since [-0-9]+T[0-9:]+Z; covey owed coder", item)
    said = patient.covey("doctor")
    assert (said.code, said.out.splitlines()[-1]) == (0, "Healthy.")
    assert "remark offline-agent-owes: 1 answer owed by 1 offline agent" in said.out
    inside.join("coder")
    assert patient.covey("doctor", "--json").json["remarks"] == []
    inside.join("critic")
    assert patient.covey("reply", asked, "yes", "--from", "coder").code == 0
    assert patient.covey("doctor", "--json").json["remarks"] == []


def test_an_agent_that_waits_for_the_answer_to_its_question_back_owes_nothing_yet(patient: Patient) -> None:
    (asked,) = [item["id"] for item in patient.covey("inbox", "coder", "--json").json]
    words = ("send", "which line?", "--from", "coder", "--to", "critic", "--request", "--reply-to", asked)
    assert patient.covey(*words).code == 0
    (remark,) = patient.covey("doctor", "--json").json["remarks"]
    assert [item.partition(":")[0] for item in remark["items"]] == ["critic"]
