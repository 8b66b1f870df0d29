"""The renderings, in their documented forms."""

import json

import pytest

from covey.core.attention.pending import Instructions, OmittedCounts
from covey.core.attention.styles import RenderingStyle, compact_text, framed, peers_block, synthetic_result
from covey.core.identity import Grade
from covey.core.ledger.message import Kind
from covey.core.ledger.offer import Presentation
from covey.testing.fakes import numbered_uuid
from tests.attention.letters import a_letter, another, pending_for_bob

CORRELATION = "7a3b2f00-0000-4000-8000-000000000001"


@pytest.mark.requirement("peers.render")
def test_a_peer_message_is_rendered_as_documented() -> None:
    letter = a_letter(text="task #1 ready for handoff", sender="researcher")
    assert peers_block(pending_for_bob(letter, offer=None)) == (
        "# PEER MESSAGES\n"
        '<peer-message from="researcher" sent_at="2026-04-30T14:00:00+00:00" grade="session" number="1">\n'
        "task #1 ready for handoff\n"
        "</peer-message>"
    )


@pytest.mark.requirement("peers.render")
def test_a_message_without_a_correlation_id_has_no_such_attribute() -> None:
    block = peers_block(pending_for_bob(a_letter(1), a_letter(2, correlation_id=CORRELATION)))
    first, second = (line for line in block.split("\n") if line.startswith("<peer-message"))
    assert "correlation_id" not in first
    assert f'sent_at="2026-04-30T14:00:00+00:00" correlation_id="{CORRELATION}"' in second


@pytest.mark.requirement("peers.render")
def test_without_messages_there_is_no_block() -> None:
    assert peers_block(pending_for_bob(others=(another("carol"),))) == ""
    assert framed(pending_for_bob(), RenderingStyle.PEERS) == ""


def test_a_block_names_the_number_of_left_out_messages_and_its_offer() -> None:
    block = peers_block(pending_for_bob(a_letter(), left_out=OmittedCounts(12, 2)))
    assert block.split("\n")[-2:] == [
        "12 more messages did not fit, 2 of which want an answer. Read them: covey inbox bob",
        f"<!-- offer {numbered_uuid(1)} -->",
    ]


def test_a_cut_body_says_how_much_is_shown_and_how_to_read_the_rest() -> None:
    letter = a_letter(text="the beginning", length=5_678)
    note = f"13 of 5,678 characters; the rest: covey thread {letter.message_id}"
    pending = pending_for_bob(letter)
    assert f' cut="{note}">' in peers_block(pending)
    assert f" [{note}]\n" in compact_text(pending)
    assert json.loads(json.dumps(synthetic_result(pending)))["state"]["output"]["messages"][0]["cut"] == note


@pytest.mark.requirement("broadcast.synthetic")
def test_the_synthetic_result_has_the_documented_structure() -> None:
    pending = pending_for_bob(
        a_letter(1, "What's the status on the API?", sender="agentA"),
        a_letter(2, "Also, can you check the tests?", sender="agentA"),
        others=(another("agentA", "Working on frontend components"),),
        has_announced=False,
    )
    result = json.loads(json.dumps(synthetic_result(pending)))
    output = result["state"].pop("output")
    assert result == {
        "tool": "broadcast",
        "state": {"status": "completed", "input": {"synthetic": True}, "title": "1 agent(s), 2 message(s)"},
    }
    assert output["hint"].startswith("ACTION REQUIRED: Announce yourself")
    assert output["agents"] == [{"name": "agentA", "status": "Working on frontend components"}]
    assert output["messages"] == [
        {"id": 1, "from": "agentA", "content": "What's the status on the API?", "grade": "session"},
        {"id": 2, "from": "agentA", "content": "Also, can you check the tests?", "grade": "session"},
    ]
    assert list(output) == ["hint", "agents", "messages", "offer"]
    assert output["offer"] == pending.offer


@pytest.mark.requirement("broadcast.synthetic")
def test_the_hint_is_gone_once_the_agent_has_announced_itself() -> None:
    result = json.loads(json.dumps(synthetic_result(pending_for_bob(a_letter()))))
    assert "hint" not in result["state"]["output"]


def test_an_agent_without_a_status_is_described_by_its_card_or_its_presence() -> None:
    pending = pending_for_bob(others=(another("carol", description="reviews"), another("dave")))
    result = json.loads(json.dumps(synthetic_result(pending)))
    assert [agent["status"] for agent in result["state"]["output"]["agents"]] == ["reviews", "idle"]


def test_a_long_status_is_cut() -> None:
    result = json.loads(json.dumps(synthetic_result(pending_for_bob(others=(another("carol", "x" * 10_000),)))))
    assert result["state"]["output"]["agents"][0]["status"] == "x" * 199 + "…"


def test_a_request_and_its_scope_and_subject_are_shown_in_every_style() -> None:
    letter = a_letter(kind=Kind.REQUEST, scope="build", subject="parser", correlation_id=CORRELATION)
    pending = pending_for_bob(letter)
    assert 'kind="request" expects_reply="true" scope="build" subject="parser"' in peers_block(pending)
    message = json.loads(json.dumps(synthetic_result(pending)))["state"]["output"]["messages"][0]
    assert message | {"kind": "request", "expects_reply": True, "scope": "build", "subject": "parser"} == message
    assert message["correlation_id"] == CORRELATION
    assert compact_text(pending).split("\n")[1] == (
        "#1 request from alice (session) at 2026-04-30T14:00:00+00:00 in build on parser "
        f"correlation {CORRELATION}, wants an answer"
    )


@pytest.mark.requirement("identity.grades")
@pytest.mark.parametrize("grade", Grade)
def test_every_rendering_shows_the_grade_of_every_sender(grade: Grade) -> None:
    pending = pending_for_bob(a_letter(grade=grade))
    assert f'grade="{grade}"' in framed(pending, RenderingStyle.PEERS)
    assert f'"grade":"{grade}"' in framed(pending, RenderingStyle.BROADCAST)
    assert f"from alice ({grade})" in framed(pending, RenderingStyle.COMPACT)


def test_the_compact_block_has_a_line_for_each_message_and_indents_bodies() -> None:
    pending = pending_for_bob(
        a_letter(3, "Shall I merge?\nIt is green.", kind=Kind.REQUEST),
        a_letter(4, "Done.", sender="carol", grade=Grade.CLAIMED),
        others=(another("alice", "Working on the parser"), another("carol")),
        left_out=OmittedCounts(1),
    )
    assert compact_text(pending) == (
        "2 messages for bob:\n"
        "#3 request from alice (session) at 2026-04-30T14:00:00+00:00, wants an answer\n"
        "  Shall I merge?\n"
        "  It is green.\n"
        "#4 notify from carol (claimed) at 2026-04-30T14:00:00+00:00\n"
        "  Done.\n"
        "1 more message did not fit. Read them: covey inbox bob\n"
        "Answer: covey reply NUMBER TEXT --as bob\n"
        "Other agents:\n"
        "  alice: Working on the parser\n"
        "  carol: idle\n"
        f"Offer {numbered_uuid(1)}"
    )


@pytest.mark.parametrize("style", RenderingStyle)
def test_every_rendering_contains_its_offer_id_as_evidence_for_a_transcript(style: RenderingStyle) -> None:
    pending = pending_for_bob(a_letter())
    assert framed(pending, style).count(numbered_uuid(1)) == 1
    assert numbered_uuid(1) in json.dumps(synthetic_result(pending))


@pytest.mark.parametrize("style", RenderingStyle)
def test_the_instructions_are_those_of_the_reader(style: RenderingStyle) -> None:
    ways = Instructions(more="call inbox", rest="call thread with id {message}", answer="call reply")
    letter = a_letter(kind=Kind.REQUEST, length=100)
    pending = pending_for_bob(letter, left_out=OmittedCounts(2))._replace(ways=ways)
    text = framed(pending, style)
    assert "Read them: call inbox" in text
    assert f"the rest: call thread with id {letter.message_id}" in text
    assert "covey " not in text


@pytest.mark.parametrize("style", [RenderingStyle.BROADCAST, RenderingStyle.COMPACT])
def test_without_messages_agents_are_shown_only_until_handled(style: RenderingStyle) -> None:
    pending = pending_for_bob(others=(another("carol"),), offer=None)
    assert framed(pending, style) == ""
    assert "carol" in framed(pending._replace(presentation=Presentation.UNTIL_HANDLED), style)
    assert pending.title == "1 agent(s), 0 message(s)"
    alone = pending_for_bob(has_announced=False, offer=None, presentation=Presentation.UNTIL_HANDLED)
    assert bool(framed(alone, style)) is (style is RenderingStyle.BROADCAST)
