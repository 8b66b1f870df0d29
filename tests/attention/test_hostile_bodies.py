"""A hundred thousand hostile texts against every rendering: none closes its frame, fakes a header or passes as the
user."""

from collections.abc import Sequence

import pytest

from covey.core.attention.injection import InjectionForm, inject, take_out
from covey.core.attention.pending import OmittedCounts, Pending
from covey.core.attention.provider_messages import Provider
from covey.core.attention.styles import RenderingStyle, framed, peers_block
from covey.core.identity import Grade
from covey.core.ledger.message import Kind, Message, TextPart
from covey.core.text.escape import contained, harmless, still_harmless
from covey.core.work.spawning import later_prompt
from covey.testing.records import a_message, a_run
from tests.attention.hostile import Grammar
from tests.attention.letters import a_letter, another, pending_for_bob
from tests.attention.parsing import (
    assert_harmless,
    parse_broadcast,
    parse_compact,
    parse_peers,
    unframed,
)
from tests.rendering.forgeries import assert_nothing_escapes

RUN = a_run(1)
SEED = 20260430
BODIES = 100_000
BATCH = 20
EACH = 10
"""One in so many batches is also rendered as a prompt for a child, because prompts are rendered as mail is."""
NAMES = 500

Texts = Sequence[tuple[str, str]]


def pending_of(texts: Texts) -> Pending:
    letters = [a_letter(n, text, kind=list(Kind)[n % 5]) for n, (text, _) in enumerate(texts, 1)]
    return pending_for_bob(*letters, others=(another("carol", texts[0][0]),), left_out=OmittedCounts(3, 1))


def a_said(text: str) -> Message:
    """Return a message with only this text."""
    return a_message(1)._replace(parts=(TextPart(text),))


def check(pending: Pending, texts: Texts) -> None:
    """Parse every rendering, and check the foreign texts in it."""
    peers = unframed(framed(pending, RenderingStyle.PEERS))
    messages, after = parse_peers(peers)
    assert peers_block(pending) == peers
    assert [m.attributes["number"] for m in messages] == [str(letter.number) for letter in pending.letters]
    assert after == [pending.left_out_line, f"<!-- offer {pending.offer} -->"]
    told = parse_broadcast(unframed(framed(pending, RenderingStyle.BROADCAST)))
    assert [m["id"] for m in told["messages"]] == [letter.number for letter in pending.letters]
    assert told["offer"] == pending.offer
    compact, ours = parse_compact(unframed(framed(pending, RenderingStyle.COMPACT)))
    assert [m.attributes["number"] for m in compact] == [m.attributes["number"] for m in messages]
    assert [line.split()[0] for line in ours] == ["20", "3", "Answer:", "Other", "Offer"]
    for place, (_, word) in enumerate(texts):
        body = messages[place].body
        assert told["messages"][place]["content"] == compact[place].body == body
        assert_harmless(body)
        assert word in body
    assert_harmless(told["agents"][0]["status"])


def check_prompt(texts: Texts) -> None:
    """Render the texts as a child's prompt, and check that escaping twice changes nothing."""
    for text, word in texts:
        assert word in still_harmless(text)
        assert still_harmless(harmless(text)) == contained(harmless(text)) == harmless(text)
    assert_nothing_escapes(later_prompt(RUN, a_said(texts[0][0]), [a_said(text) for text, _ in texts[1:]]))


@pytest.mark.requirement("peers.render.escape")
@pytest.mark.timeout(120)
def test_no_hostile_body_breaks_out_of_any_rendering() -> None:
    print(f"seed {SEED}")
    batch: list[tuple[str, str]] = []
    for number, text in enumerate(Grammar(SEED).texts(BODIES), 1):
        batch.append(text)
        if len(batch) == BATCH:
            check(pending_of(batch), batch)
            if number % (BATCH * EACH) == 0:
                check_prompt(batch)
            batch.clear()
    assert not batch


@pytest.mark.requirement("peers.render.escape")
def test_no_hostile_name_or_attribute_breaks_out_of_any_rendering() -> None:
    print(f"seed {SEED}")
    for text, _ in Grammar(SEED + 1).texts(NAMES):
        letters = [
            a_letter(n, "hello", sender=text, grade=Grade.CLAIMED, scope=text, subject=text, correlation_id=text)
            for n in (1, 2)
        ]
        pending = pending_for_bob(*letters, others=(another(text, text, text),))
        messages, _ = parse_peers(unframed(framed(pending, RenderingStyle.PEERS)))
        assert [(m.attributes["grade"], m.body) for m in messages] == [("claimed", "hello")] * 2
        told = parse_broadcast(unframed(framed(pending, RenderingStyle.BROADCAST)))
        assert [m["content"] for m in told["messages"]] == ["hello", "hello"]
        compact = unframed(framed(pending, RenderingStyle.COMPACT)).split("\n")
        assert [line.split(" from ")[0] for line in compact if line.startswith("#")] == ["#1 notify", "#2 notify"]
        assert len([line for line in compact if not line.startswith("  ")]) == 5
        for name in (messages[0].attributes["from"], told["messages"][0]["from"], told["agents"][0]["name"]):
            assert "\n" not in name


@pytest.mark.requirement("peers.render.escape")
@pytest.mark.parametrize("provider", Provider)
def test_no_hostile_body_keeps_an_injection_from_being_taken_out(provider: Provider) -> None:
    before = [{"role": "user", "content": "What is new?"}]
    texts = list(Grammar(SEED + 2).texts(2_000))
    for begin in range(0, len(texts), BATCH):
        pending = pending_of(texts[begin : begin + BATCH])
        for style in RenderingStyle:
            injected = inject(before, pending, provider=provider, style=style)
            assert injected.form is InjectionForm.TEXT
            assert take_out(injected.messages, provider=provider) == before


def test_escaped_text_can_be_unescaped() -> None:
    """Escaping plain text is lossless: tags are restored, and an entity stays an entity."""
    import html

    for text in ("<b>bold</b>", "&lt;b&gt;", "a < b && c", "</peer-message>", "&amp;amp;"):
        assert html.unescape(harmless(text)) == text
