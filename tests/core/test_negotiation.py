"""A negotiation, derived from its thread: whose turn it is, the round, and its ending."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.identity import Address, AddressKind, Identity
from covey.core.ledger.marks import DialogueKind, Marks, Step, is_part_of, pair_of
from covey.core.ledger.message import Kind, Message
from covey.core.names import AgentName, MessageId, SessionId
from covey.core.work.negotiation import (
    REPLY_SKIP,
    REST,
    Negotiation,
    NegotiationEnding,
    is_skip,
    parse_rounds,
    read_negotiation,
)
from covey.testing import a_message

NOW = datetime(2026, 1, 1, tzinfo=UTC)
A = Identity(AgentName("a"), SessionId("00000000-0000-4000-8000-00000000000a"))
B = Identity(AgentName("b"), SessionId("00000000-0000-4000-8000-00000000000b"))
C = Identity(AgentName("c"), SessionId("00000000-0000-4000-8000-00000000000c"))
BEGUN = Marks(pair_of(DialogueKind.TALK, A, B), B.agent, Step.ROUND)


def message(number: int, sender: Identity, text: str, answers: int | None = None, **more: object) -> Message:
    kind = Kind.REQUEST if more.get("expects_reply") else Kind.RESPONSE
    made = a_message(kind=kind, to=A.agent if sender == B else B.agent, text=text, thread=MessageId("m0"))._replace(
        id=MessageId(f"m{number}"),
        sender=sender,
        created_at=NOW + timedelta(seconds=number),
        in_reply_to=None if answers is None else MessageId(f"m{answers}"),
    )
    return made._replace(**more)


def ask(number: int, count: int, sender: Identity = A, answers: int | None = None) -> Message:
    return message(number, sender, f"question {number}", answers, expects_reply=True, round=count, marks=BEGUN)


def reply(number: int, answers: int, count: int, text: str = "fine", sender: Identity = B) -> Message:
    return message(number, sender, text, answers, round=count)


def read(*thread: Message, limit: int = 5) -> Negotiation:
    found = read_negotiation(thread, limit)
    assert found is not None
    return found


def test_the_turn_follows_from_the_unanswered_messages() -> None:
    asked = read(ask(0, 1))
    assert (asked.owed_by(B), asked.owed_by(A)) == (asked.first, None)
    assert asked.asked_by(A) == asked.first.id
    answered = read(ask(0, 1), reply(1, 0, 1))
    assert (answered.owed_by(B), answered.awaited_by(A), answered.ending) == (None, None, None)
    assert answered.asked_by(A) == answered.first.id
    assert answered.asked_by(B) is None


def test_a_question_back_is_owed_by_the_asker_and_its_answer_ends_no_round() -> None:
    question = message(1, B, "which?", 0, expects_reply=True, round=1)
    asked_back = read(ask(0, 1), question, limit=1)
    assert asked_back.owed_by(A) == question
    told = read(ask(0, 1), question, reply(2, 1, 1, "this one", A), limit=1)
    assert (told.ending, told.owed_by(B)) == (None, told.first)
    assert (
        read(ask(0, 1), question, reply(2, 1, 1, "this", A), reply(3, 0, 1), limit=1).ending is NegotiationEnding.LIMIT
    )


def test_either_side_ends_a_negotiation_and_only_the_whole_message_is_the_token() -> None:
    assert read(ask(0, 1), reply(1, 0, 1, f" {REPLY_SKIP}\n")).ending is NegotiationEnding.SKIPPED
    assert read(ask(0, 1), reply(1, 0, 1, f"{REPLY_SKIP}!")).ending is None
    end = message(2, A, REPLY_SKIP, 1, kind=Kind.NOTIFY, marks=Marks(step=Step.END))
    ended = read(ask(0, 1), reply(1, 0, 1), end)
    assert (ended.ending, ended.open) == (NegotiationEnding.SKIPPED, ())
    assert not is_skip("reply_skip")


@given(limit=st.integers(1, 8), count=st.integers(1, 8))
def test_the_answer_to_the_last_round_ends_the_negotiation(limit: int, count: int) -> None:
    thread = [ask(0, 1)]
    for number in range(1, count + 1):
        thread.append(reply(len(thread), len(thread) - 1, number))
        if number < count:
            thread.append(ask(len(thread), number + 1, answers=len(thread) - 1))
    found = read(*thread, limit=limit)
    assert (found.ending is NegotiationEnding.LIMIT) == (count >= limit)
    assert found.round == count
    if found.ended_at is not None:
        assert found.rests(found.ended_at) == REST
        assert found.rests(found.ended_at + REST) is None


def test_a_thread_without_a_round_is_no_negotiation_and_unknown_metadata_has_no_effect() -> None:
    assert read_negotiation([reply(0, 9, 1)], 5) is None
    assert read_negotiation([], 5) is None
    odd = message(1, A, REPLY_SKIP, 0, kind=Kind.NOTIFY, metadata={"negotiation": "end", "step": "end"})
    assert read(ask(0, 1), odd).ending is None


@pytest.mark.parametrize("text", ["fine", REPLY_SKIP])
def test_messages_of_a_stranger_in_the_thread_are_no_part_of_the_negotiation(text: str) -> None:
    before = read(ask(0, 1))
    to_asker = (Address(AddressKind.AGENT, A.agent),)
    answer = reply(1, 0, 100, text, C)._replace(to=to_asker)
    question = message(2, C, text, 0, expects_reply=True, round=1)._replace(to=to_asker)
    for said in (answer, question, answer._replace(sender=Identity(A.agent)), answer._replace(kind=Kind.NOTIFY)):
        assert read(ask(0, 1), said) == before


def test_an_answer_to_strangers_only_ends_nothing() -> None:
    aside = reply(1, 0, 1, REPLY_SKIP)._replace(to=(Address(AddressKind.AGENT, C.agent),))
    assert read(ask(0, 1), aside) == read(ask(0, 1))


def test_the_round_is_counted_by_the_space_and_not_by_the_answer() -> None:
    assert read(ask(0, 1), reply(1, 0, 100), limit=5).ending is None


def test_a_pair_is_found_from_either_side_and_no_two_pairs_are_the_same() -> None:
    talk = pair_of(DialogueKind.TALK, A, B)
    assert talk == pair_of(DialogueKind.TALK, B, A)
    others = {
        pair_of(what, one, other) for what in DialogueKind for one, other in ((A, C), (B, C), (A, Identity(B.agent)))
    }
    assert talk not in others
    assert len(others) == 6
    assert [is_part_of(talk, one) for one in (A, B, C, Identity(A.agent))] == [True, True, False, False]


@pytest.mark.parametrize("wrong", [0, -1, 101, True, "5", 2.0, None])
def test_a_number_of_rounds_is_an_integer_from_1_to_100(wrong: object) -> None:
    with pytest.raises(Invalid, match="use 1 to 100"):
        parse_rounds(wrong)
    assert parse_rounds(7) == 7


def test_a_shell_of_the_same_agent_is_the_other_side_of_a_negotiation_with_its_session() -> None:
    shell = Identity(B.agent)
    first = ask(0, 1, shell)._replace(to=(Address(AddressKind.SESSION, str(B.session)),))
    assert (read(first).owed_by(B), read(first).owed_by(shell)) == (first, None)
    back = (Address(AddressKind.AGENT, shell.agent),)
    answered = read(first, reply(1, 0, 1)._replace(to=back))
    assert (answered.asked_by(shell), answered.asked_by(B)) == (first.id, None)
    question = message(1, B, "which?", 0, expects_reply=True, round=1, to=back)
    assert read(first, question).owed_by(shell) == question
