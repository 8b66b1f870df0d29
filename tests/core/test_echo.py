"""Echoes: an exchange in which two agents say nothing new is stopped after a few rounds.

An exchange with content is not, however alike its messages look.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.ledger.message import DataPart, FilePart, Part, TextPart
from covey.core.names import AgentName
from covey.core.storms.echo import (
    EVERYBODY,
    KEPT_TALKS,
    ROUNDS,
    Talk,
    decode_talks,
    encode_talks,
    find_talk,
    gist,
    is_alike,
    is_empty,
    spoken,
    talk_key,
    with_talk,
)
from tests.core.strategies import json_values, texts

NOW = datetime(2026, 1, 1, tzinfo=UTC)
A, B = AgentName("alice"), AgentName("bob")

Said = str | tuple[Part, ...]


def parts_of(said: Said) -> tuple[Part, ...]:
    return (TextPart(said),) if isinstance(said, str) else said


def stopped_at(exchange: Sequence[Said]) -> int | None:
    """Return the index of the first refused message when two agents speak in turn; None if no message is refused."""
    talk = Talk(talk_key(A, [B]))
    for place, (said, sender) in enumerate(zip(exchange, cycle((A, B)), strict=False)):
        talk, is_heard = spoken(talk, sender, gist(parts_of(said)), NOW)
        if not is_heard:
            return place
    return None


POLITE = (
    "Thanks for the review! All points are clear, I'll proceed as discussed.",
    "You're welcome! Glad I could help. Let me know if you need anything else.",
    "Will do, thank you! Have a great day!",
    "You too! Looking forward to it.",
    "Thanks! I'll keep you posted on progress.",
    "Sounds good! I'm standing by.",
    "Perfect. Appreciate the collaboration!",
    "Likewise! It's been a pleasure working with you.",
    "The pleasure is all mine! Talk soon.",
    "Talk soon! 👋",
    "👋",
    "😊",
    "Confirmed. Awaiting further instructions.",
    "Acknowledged. Standing by for your update.",
)

STORMS: dict[str, Sequence[Said]] = {
    "thanks": ("Thanks!", "You're welcome!"),
    "the very same": ("The build is green on main.", "The build is green on main."),
    "case and punctuation": ("SYNCED with the ledger!!", "synced, with the Ledger", "Synced with the ledger…"),
    "politeness that varies": POLITE,
    "emoji": ("👍", "🎉", "🙏", "👍👍"),
    "confirming confirmations": (
        "Acknowledged your message, the synchronization status remains nominal.",
        "Acknowledgement received; synchronization status nominal on my side.",
    ),
    "nothing at all": ("", " ", "..."),
    "three texts in turn": ("The cache is warm.", "Monitoring the queue now.", "Logs are rotating."),
    "the same data": ((TextPart("ping"), DataPart({"seq": 1})),),
}

BATCHES = [f"Batch {n}: 40 rows are processed, please confirm." for n in range(30)]
CHAT = (
    "I looked at the failing test; the fixture closes the store twice.",
    "Which fixture? There are two of that name.",
    "The one in conftest under adapters.",
    "Then guard the close with a flag, the second is harmless.",
    "I'd rather remove the first close, it hides the leak.",
    "Fine. Does the leak show in the sqlite adapter only?",
    "Yes, memory has no handle.",
    "OK remove it and run the contract suite.",
    "Suite is green.",
    "Great, merge it.",
    "Merged.",
    "Thanks!",
    "You're welcome.",
)
QUESTIONS = (
    "Is the parser done?",
    "Does the lexer handle tabs?",
    "Are tests green?",
    "Is the changelog written?",
    "Did you bump the version?",
    "Is coverage fine?",
    "Do the docs build?",
    "Is lint clean?",
    "Does CI pass?",
)
FRUIT = ("apple", "pear", "plum", "fig", "kiwi", "lime", "date", "quince", "medlar")

TALKS: dict[str, Sequence[Said]] = {
    "numbered batches": [said for text in BATCHES for said in (text, "Confirmed.")],
    "numbers of messages": [f"Received {n}, thanks!" for n in range(40)],
    "answers of one word": [said for question in QUESTIONS for said in (question, "yes")],
    "values of one word": [said for fruit in FRUIT for said in ("Next item please", f"Item: {fruit}")],
    "data": [said for n in range(20) for said in ((TextPart("reading"), DataPart({"celsius": n})), "ok")],
    "files": [
        said for n in range(20) for said in ((TextPart("new draft"), FilePart("draft.md", f"sha-{n}", 10)), "got it")
    ],
    "what is done": [said for fruit in FRUIT for said in (f"The {fruit} is done.", "Thanks!")],
    "what is asked": [said for fruit in FRUIT for said in (f"Is the {fruit} ready?", "Yes.")],
    "a review": CHAT,
    "hashes": [f"pushed {n:x}abc" for n in range(4096, 4126)],
}


@pytest.mark.requirement("storm.echo")
@pytest.mark.parametrize("name", STORMS)
def test_a_storm_is_stopped_after_a_few_rounds(name: str) -> None:
    place = stopped_at([*islice(cycle(STORMS[name]), 60)])
    assert place is not None
    assert 2 * ROUNDS <= place <= 2 * ROUNDS + len(STORMS[name])


@pytest.mark.requirement("storm.echo")
@pytest.mark.parametrize("name", TALKS)
def test_an_exchange_that_says_something_goes_on(name: str) -> None:
    assert stopped_at(TALKS[name]) is None


def test_an_agent_that_repeats_itself_to_a_silent_agent_is_no_echo() -> None:
    talk = Talk(talk_key(A, [B]))
    for _ in range(50):
        talk, is_heard = spoken(talk, A, gist((TextPart("tick"),)), NOW)
        assert is_heard


def test_a_new_text_is_always_accepted_and_the_talk_goes_on() -> None:
    talk = Talk(talk_key(A, [B]))
    for sender in (A, B) * (ROUNDS + 1):
        talk, _ = spoken(talk, sender, gist((TextPart("Thanks!"),)), NOW)
    assert (talk.stopped_at, talk.refused) == (NOW, 2)
    talk, is_heard = spoken(talk, A, gist((TextPart("The deploy has failed on node seven."),)), NOW)
    assert (is_heard, talk.stopped_at, talk.stale) == (True, None, {})
    talk, is_heard = spoken(talk, B, gist((TextPart("Thanks!"),)), NOW)
    assert is_heard


def test_a_due_message_is_accepted_in_a_stopped_talk() -> None:
    talk = Talk(talk_key(A, [B]), {A: ROUNDS, B: ROUNDS})
    assert not spoken(talk, A, gist((TextPart("ok"),)), NOW)[1]
    assert spoken(talk, A, gist((TextPart("ok"),)), NOW, is_due=True)[1]


def test_messages_to_several_recipients_share_one_talk() -> None:
    c = AgentName("carol")
    assert talk_key(A, [B, c]) == talk_key(B, [A, c]) == talk_key(A, []) == EVERYBODY
    assert talk_key(A, [B]) == talk_key(B, [A]) != talk_key(A, [c])


def test_a_stopped_talk_is_not_dropped_in_favour_of_other_talks() -> None:
    stopped = Talk("alice bob", stopped_at=NOW)
    talks = (stopped,)
    for n in range(3 * KEPT_TALKS):
        talks = with_talk(talks, Talk(f"alice peer{n}"))
    assert len(talks) == KEPT_TALKS
    assert (talks[0].key, find_talk(talks, "alice bob")) == (f"alice peer{3 * KEPT_TALKS - 1}", stopped)
    assert find_talk(talks, "nobody else") == Talk("nobody else")


@given(st.lists(texts | json_values.map(lambda value: (DataPart(value),)), max_size=12))
def test_a_message_is_like_itself_and_never_refused_before_both_repeated(
    exchange: Sequence[Said],
) -> None:
    for said in exchange:
        one = gist(parts_of(said))
        assert is_alike(one, one)
    place = stopped_at(exchange)
    assert place is None or place >= 2 * ROUNDS


@given(st.integers(0, 10**9), st.integers(0, 10**9), texts)
def test_texts_with_different_numbers_are_never_alike(one: int, other: int, text: str) -> None:
    assert is_alike(gist((TextPart(f"{text} {one}"),)), gist((TextPart(f"{text} {other}"),))) == (one == other)


@given(st.lists(st.text("abcdefghij", min_size=3, max_size=9), min_size=40, max_size=80, unique=True))
def test_a_long_text_with_one_word_replaced_is_alike_and_with_every_word_replaced_is_not(words: list[str]) -> None:
    whole = gist((TextPart(" ".join(words)),))
    assert is_alike(whole, gist((TextPart(" ".join(["zzzz", *words[1:]])),)))
    fresh = [f"{word}zz" for word in words]
    assert not is_alike(whole, gist((TextPart(" ".join(fresh)),)))


@given(st.lists(st.tuples(st.sampled_from([A, B]), texts), max_size=30))
def test_talks_survive_encoding(exchange: list[tuple[AgentName, str]]) -> None:
    talk = Talk(talk_key(A, [B]))
    for sender, text in exchange:
        talk, _ = spoken(talk, sender, gist((TextPart(text),)), NOW)
    kept = encode_talks([talk])
    assert decode_talks(kept) == (talk,)


def test_a_polite_phrase_is_empty_and_a_text_of_substance_is_not() -> None:
    assert all(is_empty(gist((TextPart(text),))) for text in POLITE[1:])
    assert not any(
        is_empty(gist((TextPart(text),))) for text in (*QUESTIONS, *CHAT[:8], *FRUIT, "merge", "rollback now")
    )
