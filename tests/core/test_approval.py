"""Approvals as data: requests and decisions survive encoding, forms of other programs are understood, and only an
explicit approval counts as one."""

import string
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.json import Json, to_json
from covey.core.ledger.message import DataPart, Kind, Message, Part, TextPart
from covey.core.ledger.outcome import Outcome, OutcomeKind
from covey.core.ledger.wire import decode, encode, read_json
from covey.core.work.approval import (
    PLAN,
    SHUTDOWN,
    ApprovalName,
    ApprovalRequest,
    ApprovalState,
    Decision,
    answer_parts,
    approval_data,
    approval_of,
    bare_text,
    parse_approval_name,
    read_decision,
    request_part,
    requested,
)
from covey.testing.records import a_message, a_message_id, a_ticket
from tests.core.strategies import json_values, message_ids, parts, texts

names = st.sampled_from([PLAN, SHUTDOWN]) | st.text(string.ascii_lowercase, min_size=1, max_size=64).map(ApprovalName)
decisions = st.builds(Decision, st.booleans(), texts)
ASKED = ApprovalRequest(PLAN, a_message_id(1))


def a_request(*parts: Part) -> Message:
    return a_message(1)._replace(kind=Kind.REQUEST, expects_reply=True, parts=parts)


@given(names, message_ids, st.lists(parts, max_size=3))
def test_a_request_is_read_as_it_was_written(name: ApprovalName, message_id: Any, others: list[Part]) -> None:
    message = a_request(*others, request_part(name, message_id))._replace(id=message_id)
    assert requested(message) == ApprovalRequest(name, message_id)
    assert requested(message._replace(thread=message_id, root=message_id)) == ApprovalRequest(name, message_id)


@given(names, message_ids, decisions)
def test_an_answer_is_read_as_it_was_written_in_data_and_as_a_text(
    name: ApprovalName, message_id: Any, decision: Decision
) -> None:
    request = ApprovalRequest(name, message_id)
    answer = a_message(2)._replace(kind=Kind.RESPONSE, parts=answer_parts(request, decision))
    assert read_decision(request, answer.parts) == decision
    assert read_decision(request, decode(encode(answer)).parts) == decision
    bare = bare_text(answer)
    assert bare is not None
    assert read_decision(request, (TextPart(bare),)) == decision


@given(names, message_ids, texts | st.just("{}"))
def test_a_request_sent_as_bare_text_is_read_as_the_same_request(
    name: ApprovalName, message_id: Any, said: str
) -> None:
    message = a_request(TextPart(said), request_part(name, message_id))._replace(id=message_id)
    bare = bare_text(message)
    assert bare is not None
    assert requested(message._replace(parts=(TextPart(bare),))) == ApprovalRequest(name, message_id)
    assert said in cast(dict[str, Json], read_json(bare)).values()


@given(st.lists(parts, max_size=3))
def test_arbitrary_parts_contain_no_decision(others: list[Part]) -> None:
    """A decision never comes about by chance."""
    assert read_decision(ASKED, others) is None


@given(json_values.filter(lambda value: not isinstance(value, bool)))
def test_an_approve_field_that_is_no_boolean_is_invalid(value: Json) -> None:
    for part in (DataPart({"approve": value}), TextPart(to_json({"approve": value}))):
        with pytest.raises(Invalid, match="approve"):
            read_decision(ASKED, (part,))


@pytest.mark.parametrize("text", ["yes, go on", "Approved", "approve: true", '"approve"', "[true]", "true", "{", "{}"])
def test_a_plain_text_is_no_decision(text: str) -> None:
    assert read_decision(ASKED, (TextPart(text),)) is None


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ({"type": "plan_approval_response"}, "approve is missing"),
        ({"approve": None}, "approve is missing"),
        ({"approve": "true"}, "use true or false"),
        ({"approve": True, "type": "shutdown_response"}, "plan_approval_response"),
        ({"approve": True, "request_id": "another"}, a_message_id(1)),
        ({"approve": True, "feedback": 5}, "use a text"),
    ],
)
def test_the_error_of_a_malformed_decision_names_the_fault(data: Json, fault: str) -> None:
    with pytest.raises(Invalid) as error:
        read_decision(ASKED, (DataPart(data),))
    assert fault in error.value.message


@pytest.mark.parametrize(
    ("parts", "decision"),
    [
        ((DataPart({"approve": True}),), Decision(True)),
        ((TextPart("but slowly"), DataPart({"approve": True})), Decision(True, "but slowly")),
        ((TextPart(' {"approve": false, "reason": "no"}\n'),), Decision(False, "no")),
        ((TextPart('{"approve": false, "feedback": "no", "reason": "other"}'),), Decision(False, "no")),
        ((DataPart({"approve": True}), DataPart({"approve": False})), Decision(False)),
        ((DataPart({"approve": True, "confidence": 0.9}), DataPart([1])), Decision(True)),
    ],
)
def test_decisions_as_other_programs_write_them_are_understood(parts: tuple[Part, ...], decision: Decision) -> None:
    assert read_decision(ASKED, parts) == decision


def test_a_shutdown_request_of_any_program_is_an_approval_request() -> None:
    for data in ({"type": "shutdown_request", "request_id": "r-1"}, {"type": "shutdown_request", "request_id": 5}):
        request = requested(a_request(TextPart(to_json(data))))
        assert request is not None
        assert request.name == SHUTDOWN
        assert request.request_id in ("r-1", a_message_id(1))


def test_requests_of_other_types_are_no_approval_requests() -> None:
    assert requested(a_request(DataPart({"type": "http_request", "request_id": "7"}))) is None
    assert requested(a_request(DataPart({"type": "_request", "request_id": a_message_id(1)}))) is None
    assert requested(a_request(DataPart({"type": "plan_approval_response", "request_id": a_message_id(1)}))) is None
    assert requested(a_request(DataPart({"type": 7}), TextPart("{" * 100_000))) is None


def test_only_a_message_that_expects_a_reply_asks_for_an_approval() -> None:
    message = a_request(request_part(PLAN, a_message_id(1)))
    assert requested(message) is not None
    assert requested(message._replace(expects_reply=False)) is None
    assert requested(message._replace(kind=Kind.NOTIFY, expects_reply=False)) is None


def test_the_data_of_an_approval_is_found_and_other_data_is_not() -> None:
    part = request_part(PLAN, a_message_id(1))
    assert approval_data(a_request(DataPart({"a": 1}), part)) is part.data
    assert approval_data(a_request(DataPart({"a": 1}))) is None
    assert bare_text(a_request(TextPart("hi"))) is None


@pytest.mark.parametrize(
    ("written", "name"),
    [
        *[(text, PLAN) for text in ("plan", "Plan ", "plan_approval", "plan_approval_request", "plan-approval")],
        *[(text, SHUTDOWN) for text in ("shutdown", "shutdown_request", "shut down")],
        *[(text, "deploy") for text in ("deploy", "deploy_request", "deploy-request")],
    ],
)
def test_an_approval_name_can_be_written_short_or_long(written: str, name: str) -> None:
    assert parse_approval_name(written) == name


@pytest.mark.parametrize("written", ["", " ", "_request", "7up", "a" * 65, "über", "a.b", None, 5, "a/b"])
def test_an_invalid_approval_name_is_refused(written: object) -> None:
    with pytest.raises(Invalid, match="approval"):
        parse_approval_name(written)


def test_only_an_approved_request_is_true() -> None:
    ticket = a_ticket()

    def judged(*parts: Part) -> tuple[ApprovalState, bool]:
        answer = a_message(2)._replace(kind=Kind.RESPONSE, parts=parts)
        ended = ticket._replace(answer=answer.id)
        approval = approval_of(ASKED, Outcome(OutcomeKind.REPLIED, ended, answer))
        return approval.state, bool(approval)

    assert judged(*answer_parts(ASKED, Decision(True))) == (ApprovalState.APPROVED, True)
    assert judged(*answer_parts(ASKED, Decision(False, "no"))) == (ApprovalState.REJECTED, False)
    assert judged(TextPart("yes, go on")) == (ApprovalState.FAILED, False)
    assert judged(DataPart({"approve": "yes"})) == (ApprovalState.FAILED, False)
    waiting = approval_of(ASKED, Outcome(OutcomeKind.DELIVERED_NO_REPLY, ticket))
    assert (waiting.state, bool(waiting)) == (ApprovalState.WAITING, False)
