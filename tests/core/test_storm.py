"""The budget of a causal tree: its counts, and the messages that exceed it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.storms.budget import (
    MOST,
    REST,
    ExceededLimit,
    Limit,
    Limits,
    counts,
    encode_limits,
    excess,
    grown,
    is_near,
    lifted,
    new_tree,
    parse_limits,
)
from covey.core.storms.echo import Talk
from covey.testing import a_message_id

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SMALL = Limits(messages=5, depth=3, hours=2, children=1)
limits = st.builds(Limits, *(st.integers(1, 30) for _ in Limit))
steps = st.lists(st.tuples(st.integers(1, 40), st.integers(0, 60), st.booleans()), max_size=40)


def test_the_root_counts_and_each_message_is_one_more() -> None:
    later = NOW + timedelta(minutes=50)
    tree = grown(grown(new_tree(a_message_id(), NOW), 1, later), 2, later, spawns=True)
    assert counts(tree, NOW + timedelta(minutes=90)) == {
        Limit.MESSAGES: 3,
        Limit.DEPTH: 2,
        Limit.HOURS: 1,
        Limit.CHILDREN: 1,
    }


@pytest.mark.requirement("storm.budget")
def test_the_first_limit_that_would_be_broken_is_named_with_the_count() -> None:
    tree = new_tree(a_message_id(), NOW)
    for _ in range(4):
        after = grown(tree, 1, NOW)
        assert excess(tree, after, SMALL, NOW) is None
        tree = after
    assert excess(tree, grown(tree, 1, NOW), SMALL, NOW) == ExceededLimit(Limit.MESSAGES, 6, 5)
    tree = new_tree(a_message_id(), NOW)
    assert excess(tree, grown(tree, 4, NOW), SMALL, NOW) == ExceededLimit(Limit.DEPTH, 4, 3)
    busy = tree._replace(updated_at=NOW + timedelta(minutes=90))
    late = NOW + timedelta(hours=2)
    assert excess(busy, grown(busy, 1, late), SMALL, late) == ExceededLimit(Limit.HOURS, 2, 2)
    two = grown(grown(tree, 1, NOW, spawns=True), 1, NOW, spawns=True)
    assert excess(grown(tree, 1, NOW, spawns=True), two, SMALL, NOW) == ExceededLimit(Limit.CHILDREN, 2, 1)


def test_a_tree_at_its_limit_of_children_still_accepts_messages_and_a_deep_one_accepts_answers_nearer_to_the_root() -> (
    None
):
    tree = grown(grown(new_tree(a_message_id(), NOW), 1, NOW, spawns=True), 3, NOW)
    over = tree._replace(children=9, depth=9)  # as after an operator lowered the limits
    assert excess(over, grown(over, 2, NOW), SMALL, NOW) is None


@given(limits, steps)
def test_the_messages_that_a_budget_accepts_never_exceed_it(
    budget: Limits, growth: list[tuple[int, int, bool]]
) -> None:
    tree, now = new_tree(a_message_id(), NOW), NOW
    for depth, minutes, spawns in growth:
        now += timedelta(minutes=minutes)
        after = grown(tree, depth, now, spawns=spawns)
        broken = excess(tree, after, budget, now)
        if broken is None:
            tree = after
            assert all(count <= budget.of(limit) for limit, count in counts(tree, now).items())
        else:
            assert broken.counted >= broken.allowed == budget.of(broken.limit)


@given(limits, steps)
def test_a_tree_that_was_lifted_has_its_whole_budget_again(budget: Limits, growth: list[tuple[int, int, bool]]) -> None:
    tree = new_tree(a_message_id(), NOW)._replace(
        stopped=Limit.DEPTH, stopped_at=NOW, talks=(Talk("a b", stopped_at=NOW),)
    )
    deepest = 0
    for depth, _, spawns in growth:
        deepest = max(deepest, depth)
        tree = grown(tree, depth, NOW, spawns=spawns)
    assert tree.is_stopped
    tree = lifted(tree, NOW)
    assert not tree.is_stopped
    assert not any(counts(tree, NOW).values())
    assert excess(tree, grown(tree, deepest + budget.depth, NOW), budget, NOW) is None


def test_a_tree_is_near_its_limits_when_most_is_used() -> None:
    tree = new_tree(a_message_id(), NOW)
    assert not is_near(tree, Limits(), NOW)
    assert is_near(tree._replace(messages=1600), Limits(), NOW)
    late = NOW + timedelta(hours=20)
    assert is_near(tree._replace(updated_at=late), Limits(), late)


def test_time_counts_while_there_is_no_rest() -> None:
    tree, now = new_tree(a_message_id(), NOW), NOW
    for _ in range(3):
        now += timedelta(minutes=50)
        tree = grown(tree, 1, now)
    assert counts(tree, now)[Limit.HOURS] == 2
    rested = now + REST
    assert counts(tree, rested)[Limit.HOURS] == 0
    tree = grown(tree, 1, rested)
    assert (tree.began_at, tree.messages) == (rested, 5)


@given(limits)
def test_limits_survive_encoding(budget: Limits) -> None:
    assert parse_limits(encode_limits(budget)) == budget
    assert parse_limits({"depth": budget.depth}) == Limits(depth=budget.depth)


@pytest.mark.parametrize(
    "data", [None, [], 3, {"messages": 0}, {"hours": True}, {"depth": "9"}, {"children": MOST + 1}]
)
def test_malformed_limits_are_invalid(data: object) -> None:
    with pytest.raises(Invalid):
        parse_limits(data)
