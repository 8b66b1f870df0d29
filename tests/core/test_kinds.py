"""The rules of the kinds, and the fields that a draft takes from the message that it answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import CoveyError, Invalid, KindRule
from covey.core.identity import Grade, Identity, parse_address
from covey.core.ledger.draft import Draft, check_kind, compose
from covey.core.ledger.message import Kind, TextPart
from covey.core.limits import MAX_PARTS
from covey.core.names import AgentName, Scope, Subject
from covey.testing import a_message, a_message_id, a_session_id, at

DRAFT = Draft(Kind.REQUEST, (parse_address("bob"),), (TextPart("hello"),))
BOB = Identity(AgentName("bob"), a_session_id(), Grade.SESSION)


@pytest.mark.requirement("dialogue.kinds")
@given(st.sampled_from(Kind), st.booleans(), st.booleans())
def test_only_a_request_expects_a_reply_and_a_response_names_the_message_it_answers(
    kind: Kind, expects_reply: bool, is_reply: bool
) -> None:
    draft = DRAFT._replace(kind=kind, expects_reply=expects_reply, in_reply_to=a_message_id() if is_reply else None)
    is_right = (kind is Kind.REQUEST or not expects_reply) and (kind is not Kind.RESPONSE or is_reply)
    try:
        check_kind(draft)
    except KindRule:
        assert not is_right
    else:
        assert is_right


@pytest.mark.requirement("dialogue.kinds")
def test_a_response_has_the_id_of_the_message_it_answers() -> None:
    asked = a_message(1, kind=Kind.REQUEST, scope="s", subject="topic")
    draft = Draft(Kind.RESPONSE, (), (TextPart("yes"),), in_reply_to=asked.id)
    response = compose(draft, BOB, a_message_id(2), at(1), answered=asked)
    assert response.in_reply_to == asked.id
    assert not response.expects_reply
    assert [str(address) for address in response.to] == ["alice"]
    assert (response.thread, response.root, response.cause) == (asked.thread, asked.root, asked.id)
    assert (response.scope, response.subject) == (Scope("s"), Subject("topic"))
    assert response.sender == BOB


@pytest.mark.parametrize(
    "draft",
    [
        DRAFT._replace(to=()),
        DRAFT._replace(parts=()),
        DRAFT._replace(parts=(TextPart("x"),) * (MAX_PARTS + 1)),
        DRAFT._replace(round=-1),
    ],
)
def test_a_draft_needs_recipients_parts_and_a_round_that_counts(draft: Draft) -> None:
    check_kind(DRAFT._replace(parts=(TextPart("x"),) * MAX_PARTS, round=0))
    with pytest.raises(Invalid):
        check_kind(draft)


def test_a_first_message_begins_its_own_thread() -> None:
    message = compose(DRAFT, BOB, a_message_id(3), at(1))
    assert message.id == message.thread == message.root == a_message_id(3)
    assert message.cause is None
    assert message.trace == ("bob",)


def test_a_broken_rule_of_a_kind_is_an_error_with_a_code() -> None:
    with pytest.raises(CoveyError) as caught:
        check_kind(DRAFT._replace(kind=Kind.NOTIFY, expects_reply=True))
    assert caught.value.code == "kind-rule"
    assert caught.value.details == {"kind": "notify"}
