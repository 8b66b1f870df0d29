"""The order of messages in a turn, the budget, and the guarantee that every message is shown eventually."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.core.attention.pending import (
    AttentionOptions,
    Instructions,
    Letter,
    OmittedCounts,
    Pending,
    SenderRank,
    check_terms,
)
from covey.core.attention.selection import fit_letters, fit_others, in_order, newest_states, rank_of
from covey.core.attention.styles import RenderingStyle, framed
from covey.core.errors import Invalid
from covey.core.identity import THE_SPACE, Grade, Identity
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.message import Kind, asks_something
from covey.core.limits import MIN_ATTENTION_BUDGET
from covey.core.names import OPERATOR, AgentName
from covey.testing.records import a_delivery, at
from tests.attention.hostile import HIDDEN
from tests.attention.letters import a_letter, another, pending_for_bob

pytestmark = pytest.mark.requirement("attention.budget")

RANKS = {"operator": SenderRank.OPERATOR, "lead": SenderRank.LEAD, "peer": SenderRank.PEER}


def rank(delivery: DeliveryRecord) -> SenderRank:
    return RANKS[delivery.sender]


def waiting(n: int, sender: str = "peer", kind: Kind = Kind.NOTIFY) -> DeliveryRecord:
    return a_delivery(n, sender=sender, kind=kind)._replace(seq=n)


def numbers(deliveries: Sequence[DeliveryRecord]) -> list[int]:
    return [delivery.number for delivery in deliveries]


def fitted(letters: Sequence[Letter], budget: int = 8_000, pending: Pending | None = None) -> Pending:
    """Fit letters into a budget, in this order."""
    asking = sum(asks_something(letter.kind, letter.expects_reply) for letter in letters)
    whole = (pending_for_bob() if pending is None else pending)._replace(left_out=OmittedCounts(len(letters), asking))
    return fit_letters(whole, letters, budget)


def test_the_operator_comes_before_leads_before_peers_and_requests_before_answers_before_notes() -> None:
    deliveries = [
        waiting(2, "peer"),
        waiting(3, "peer", Kind.RESPONSE),
        waiting(4, "peer", Kind.REQUEST),
        waiting(5, "lead", Kind.UPDATE),
        waiting(6, "lead", Kind.TASK),
        waiting(7, "operator"),
        waiting(8, "operator", Kind.REQUEST),
    ]
    oldest = waiting(1, "peer")
    assert numbers(in_order([oldest, *deliveries], rank)) == [1, 8, 7, 6, 5, 4, 3, 2]


def test_equal_messages_are_shown_oldest_first_and_shown_ones_last_by_the_time_of_their_showing() -> None:
    shown = [
        waiting(n)._replace(state=DeliveryState.IN_CONTEXT, updated_at=at(seconds))
        for n, seconds in ((1, 20), (2, 10), (3, 30))
    ]
    assert numbers(in_order([*shown, waiting(5), waiting(4)], rank)) == [4, 5, 2, 1, 3]


@pytest.mark.parametrize(
    ("sender", "expected"),
    [
        (Identity(OPERATOR, None, Grade.TOKEN), SenderRank.OPERATOR),
        (Identity(OPERATOR, None, Grade.CLAIMED), SenderRank.PEER),
        (Identity(AgentName("chief"), None, Grade.CLAIMED), SenderRank.LEAD),
        (THE_SPACE, SenderRank.LEAD),
        (THE_SPACE._replace(grade=Grade.CLAIMED), SenderRank.PEER),
        (Identity(AgentName("carol"), None, Grade.TOKEN), SenderRank.PEER),
    ],
)
def test_a_name_alone_makes_no_sender_the_operator_or_the_space(sender: Identity, expected: SenderRank) -> None:
    assert rank_of(sender, {AgentName("chief")}) is expected


def test_only_the_newest_state_of_a_subject_is_kept_but_requests_are_never_dropped() -> None:
    def about(n: int, **fields: str) -> DeliveryRecord:
        return a_delivery(n, scope="build", subject="progress", **fields)._replace(seq=n)  # pyright: ignore[reportArgumentType]

    deliveries = [
        about(1),
        about(2)._replace(kind=Kind.REQUEST, expects_reply=True),
        about(3, sender="carol"),
        about(4)._replace(kind=Kind.UPDATE),
        about(5)._replace(subject=None),
        about(6)._replace(scope=None),
        about(7),
    ]
    kept, outdated = newest_states(deliveries)
    assert numbers(kept) == [2, 3, 5, 6, 7]
    assert [(old.number, new.number) for old, new in outdated] == [(1, 7), (4, 7)]


def test_messages_that_fit_are_shown_whole() -> None:
    pending = fitted([a_letter(n, "x" * 300) for n in range(1, 11)])
    assert [letter.number for letter in pending.letters] == list(range(1, 11))
    assert not any(letter.is_cut for letter in pending.letters)
    assert pending.left_out == OmittedCounts(0, 0)


def test_messages_that_do_not_fit_are_counted_in_one_line() -> None:
    letters = [a_letter(n, "x" * 300, kind=Kind.REQUEST if n > 90 else Kind.NOTIFY) for n in range(1, 101)]
    pending = fitted(letters, 4_000)
    shown = len(pending.letters)
    assert 3 < shown < 12
    assert pending.left_out == OmittedCounts(100 - shown, 10)
    assert pending.left_out_line == (
        f"{100 - shown} more messages did not fit, 10 of which want an answer. Read them: covey inbox bob"
    )


def test_a_long_body_is_cut_so_that_others_fit_and_the_most_important_one_gets_the_remaining_space() -> None:
    letters = [
        a_letter(1, "peer " * 2_000),
        a_letter(2, "boss " * 2_000, rank=SenderRank.OPERATOR),
        a_letter(3, "short"),
    ]
    boss, peer, short = fitted(letters).letters
    assert (boss.number, peer.number, short.number) == (2, 1, 3)
    assert boss.is_cut
    assert peer.is_cut
    assert not short.is_cut
    assert len(boss.text) > 4 * len(peer.text) > 400
    assert boss.length == peer.length == 10_000
    assert boss.text.endswith("boss")


def test_other_agents_take_at_most_a_quarter() -> None:
    crowd = tuple(another(f"agent{n:03}", "x" * 100) for n in range(100))
    pending = fit_others(pending_for_bob(others=crowd), 8_000)
    assert len(pending.others) + pending.more_others == 100
    assert sum(len(other.name) + 100 for other in pending.others) < 2_000
    assert pending.title == "100 agent(s), 0 message(s)"


@pytest.mark.parametrize(
    "terms",
    [
        AttentionOptions(budget=MIN_ATTENTION_BUDGET - 1),
        AttentionOptions(limit=0),
        AttentionOptions(limit=65),
        AttentionOptions(ways=Instructions(more="x" * 161)),
        AttentionOptions(ways=Instructions(rest="{nobody}")),
        AttentionOptions(ways=Instructions(answer="{")),
    ],
)
def test_invalid_terms_are_refused(terms: AttentionOptions) -> None:
    with pytest.raises(Invalid):
        check_terms(terms)


ODD = "".join(HIDDEN) + "<>&\"'\\\n\r\t#[] :aAé日"
bodies = st.one_of(
    st.text(max_size=300),
    st.text(ODD, max_size=3_000),
    st.integers(0, 20_000).map(lambda n: "word " * (n // 5)),
    st.integers(0, 5_000).map(lambda n: '"\n' * n),
)
a_name = st.text("abcXYZ09_-", min_size=1, max_size=64)


@st.composite
def some_letters(draw: st.DrawFn) -> list[Letter]:
    count = draw(st.integers(1, 64))
    drawn = [draw(bodies) for _ in range(min(count, 8))]
    return [
        a_letter(
            n + 1,
            drawn[n % len(drawn)],
            sender=draw(a_name) if n < 4 else "alice",
            kind=draw(st.sampled_from(Kind)) if n < 8 else Kind.NOTIFY,
            rank=draw(st.sampled_from(SenderRank)) if n < 8 else SenderRank.PEER,
            scope="s" * 128 if n % 2 else None,
            subject="t" * 128 if n % 3 else None,
            correlation_id="7a3b2f00-0000-4000-8000-000000000001" if n % 2 else None,
        )
        for n in range(count)
    ]


@settings(max_examples=150)
@given(
    letters=some_letters(),
    budget=st.integers(MIN_ATTENTION_BUDGET, 12_000),
    statuses=st.lists(st.text(ODD, max_size=300), max_size=30),
    has_announced=st.booleans(),
)
def test_every_rendering_keeps_the_budget_and_shows_at_least_the_first_message(
    letters: list[Letter], budget: int, statuses: list[str], has_announced: bool
) -> None:
    others = tuple(another(f"agent{n}" * 5, status) for n, status in enumerate(statuses))
    around = fit_others(pending_for_bob(others=others, has_announced=has_announced), budget)
    around = around._replace(agent=AgentName("b" * 64))
    pending = fitted(letters, budget, around)
    for style in RenderingStyle:
        assert len(framed(pending, style)) <= budget
    assert letters[0].delivery_id in {letter.delivery_id for letter in pending.letters}
    assert pending.left_out.messages == len(letters) - len(pending.letters)
    for letter in pending.letters:
        whole = letters[letter.number - 1]
        assert whole.text.startswith(letter.text)
        assert letter.is_cut or letter.text == whole.text


@st.composite
def arrivals(draw: st.DrawFn) -> list[list[DeliveryRecord]]:
    """Return the messages that arrive before each turn."""
    kinds = st.sampled_from([Kind.NOTIFY, Kind.REQUEST, Kind.RESPONSE])
    sizes = draw(st.lists(st.integers(0, 12), min_size=1, max_size=12))
    counter = iter(range(1, 1_000))
    return [
        [waiting(next(counter), draw(st.sampled_from(list(RANKS))), draw(kinds)) for _ in range(size)] for size in sizes
    ]


@settings(max_examples=100)
@given(arrivals=arrivals(), places=st.integers(1, 4))
def test_each_message_is_shown_within_as_many_turns_as_messages_waited_before_it(
    arrivals: list[list[DeliveryRecord]], places: int
) -> None:
    """This holds however few messages fit, and whatever more important ones arrive meanwhile."""
    inbox: dict[int, DeliveryRecord] = {}
    latest: dict[int, int] = {}
    for turn in range(len(arrivals) + sum(map(len, arrivals))):
        for delivery in arrivals[turn] if turn < len(arrivals) else []:
            latest[delivery.number] = turn + len(inbox)
            inbox[delivery.number] = delivery
        for delivery in in_order(inbox.values(), rank)[:places]:
            assert turn <= latest[delivery.number]
            del inbox[delivery.number]
    assert not inbox


@settings(max_examples=100)
@given(arrivals=arrivals(), places=st.integers(1, 4))
def test_messages_that_are_shown_until_handled_take_turns(arrivals: list[list[DeliveryRecord]], places: int) -> None:
    """No message is handled: after all were shown once, n messages are each shown again within n turns."""
    inbox = {delivery.number: delivery for batch in arrivals for delivery in batch}
    last: set[int] = set()
    for turn in range(2 * len(inbox)):
        for delivery in in_order(inbox.values(), rank)[:places]:
            inbox[delivery.number] = delivery._replace(state=DeliveryState.IN_CONTEXT, updated_at=at(turn))
            last |= {delivery.number} if turn >= len(inbox) else set()
    assert last == inbox.keys()
