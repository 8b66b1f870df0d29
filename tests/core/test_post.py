"""Posts: the table of their moves, the times of their retries, and their conversations."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.channels.post import (
    GIVE_UP_AFTER,
    LONGEST_ASKED,
    LONGEST_DELAY,
    MAX_ATTEMPTS,
    POST_MOVES,
    Post,
    PostMove,
    PostRefusal,
    PostState,
    conversation_of,
    delay,
    delivered,
    post_moved,
    refused,
    retried,
    taken,
)
from covey.core.errors import IllegalMove
from covey.core.ledger.message import Callback
from covey.core.names import AgentName
from covey.testing import START, a_message, a_post, at

OPS = AgentName("ops")


@given(moves=st.lists(st.sampled_from(PostMove), max_size=12))
def test_no_sequence_of_moves_leaves_a_terminal_state_or_keeps_a_due_time(moves: list[PostMove]) -> None:
    post = a_post()
    for move in moves:
        if move not in POST_MOVES[post.state]:
            with pytest.raises(IllegalMove):
                post_moved(post, move)
            continue
        post = post_moved(post, move)
        assert (post.next_at, post.holder) == (None, None)
    assert not POST_MOVES[PostState.DELIVERED]
    assert not POST_MOVES[PostState.DROPPED]


@given(attempts=st.integers(0, 10_000))
def test_delays_grow_up_to_a_limit(attempts: int) -> None:
    assert timedelta(seconds=1) <= delay(attempts) <= delay(attempts + 1) <= LONGEST_DELAY


def test_a_post_is_tried_for_a_day_and_then_given_up() -> None:
    post, now = a_post(), START
    while post.state is PostState.PENDING:
        post, _ = refused(taken(post, "lock", now), PostRefusal("no"), now)
        now = post.next_at or now
    assert post.state is PostState.FAILED
    assert GIVE_UP_AFTER <= now - START <= GIVE_UP_AFTER + LONGEST_DELAY
    assert post.attempts < MAX_ATTEMPTS, "the day is over before the attempts are"
    assert (post.next_at, post.holder, post.error) == (None, None, "no")


def test_a_post_that_is_old_is_tried_at_least_once() -> None:
    late = START + GIVE_UP_AFTER * 2
    mine = taken(a_post(), "lock", late)
    assert (mine.state, mine.attempts, mine.holder, mine.next_at) == (PostState.PENDING, 1, "lock", late)
    assert delivered(mine).state is PostState.DELIVERED


def test_a_post_is_given_up_after_the_maximum_number_of_attempts() -> None:
    post, _ = refused(a_post()._replace(attempts=MAX_ATTEMPTS), PostRefusal("no"), START)
    assert post.state is PostState.FAILED


@given(asked=st.timedeltas(timedelta(), timedelta(days=999)), attempts=st.integers(1, 50))
def test_the_retry_delay_that_a_receiver_asks_for_is_respected_up_to_a_limit(asked: timedelta, attempts: int) -> None:
    post, move = refused(a_post()._replace(attempts=attempts), PostRefusal("no", retry_after=asked), START)
    assert move is PostMove.DEFER
    assert post.next_at == START + max(delay(attempts), min(asked, LONGEST_ASKED))


def test_a_retried_post_starts_over() -> None:
    failed = a_post(state=PostState.FAILED, next_at=None)._replace(attempts=9, error="no")
    again = retried(failed, at(100), waits=False)
    assert (again.state, again.attempts, again.since, again.next_at) == (PostState.PENDING, 0, at(100), at(100))
    assert retried(failed, at(100), waits=True).next_at is None


@pytest.mark.parametrize(
    ("own", "answered", "conversation"),
    [
        (Callback("ops", "c-1"), None, "c-1"),
        (Callback("ops", "c-1"), Callback("ops", "c-2"), "c-1"),
        (None, Callback("ops", "c-2"), "c-2"),
        (Callback("other", "c-1"), Callback("ops", "c-2"), "c-2"),
        (Callback("other", "c-1"), None, ""),
        (None, None, ""),
    ],
)
def test_a_callback_says_which_conversation_a_message_belongs_to(
    own: Callback | None, answered: Callback | None, conversation: str
) -> None:
    message, before = a_message(1)._replace(callback=own), a_message(2)._replace(callback=answered)
    assert conversation_of(OPS, message, before if answered else None) == conversation


def test_a_post_is_made_of_plain_values() -> None:
    assert Post(*a_post()) == a_post()
