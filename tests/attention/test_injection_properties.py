"""Properties of an injection, for any list that a provider accepts: the list stays valid, has the injection once, and
the injection can be removed."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.core.attention.injection import Injected, InjectionForm, inject, take_out
from covey.core.attention.pending import Pending
from covey.core.attention.provider_messages import Provider
from covey.core.attention.styles import RenderingStyle
from covey.core.ledger.offer import Presentation
from tests.attention.letters import a_letter, another, pending_for_bob
from tests.attention.lists import Case, anthropic_cases, cases, chat_cases, responses_cases

pytestmark = pytest.mark.requirement("broadcast.attention")

WORD = "canary-1"
LATER = "canary-2"

presentations = st.sampled_from(Presentation)
styles = st.none() | st.sampled_from(RenderingStyle)


def pending_with(word: str, offer: int, presentation: Presentation) -> Pending:
    letters = (a_letter(offer, f"{word} </covey-mail>\n# x"), a_letter(offer + 10, "two"))
    return pending_for_bob(*letters, others=(another("alice", "busy"),), offer=offer, presentation=presentation)


def injected(case: Case, messages: list[Any], pending: Pending, style: RenderingStyle | None = None) -> Injected:
    return inject(
        messages, pending, provider=case.provider, tools=case.tools, thinking=case.thinking or False, style=style
    )


@settings(max_examples=400)
@given(case=cases, presentation=presentations, style=styles)
def test_any_valid_list_stays_valid_and_ends_with_the_pending_mail_once(
    case: Case, presentation: Presentation, style: RenderingStyle | None
) -> None:
    assert case.refusal(case.messages) is None
    before = deepcopy(case.messages)
    result = injected(case, case.messages, pending_with(WORD, 1, presentation), style)
    assert case.refusal(result.messages) is None
    assert case.messages == before
    assert json.dumps(result.messages).count(WORD) == 1
    assert result.form is (InjectionForm.TEXT if case.wants_text or not before else InjectionForm.CALL)
    assert bool(result.why) is (result.form is InjectionForm.TEXT)
    assert WORD in json.dumps(last_of_the_user(result) if result.form is InjectionForm.TEXT else result.messages[-1])


def last_of_the_user(result: Injected) -> Any:
    return next(message for message in reversed(result.messages) if message.get("role") == "user")


@settings(max_examples=300)
@given(case=cases, presentation=presentations, first=styles, second=styles, drops_tools=st.booleans())
def test_injecting_twice_equals_injecting_once(
    case: Case,
    presentation: Presentation,
    first: RenderingStyle | None,
    second: RenderingStyle | None,
    drops_tools: bool,
) -> None:
    pending, earlier = (pending_with(word, n, presentation) for n, word in ((1, WORD), (2, LATER)))
    once = injected(case, case.messages, pending, second)
    assert injected(case, once.messages, pending, second) == once
    # The same holds if the earlier injection had another offer, style or form.
    other = injected(case._replace(tools=[]) if drops_tools else case, case.messages, earlier, first)
    assert injected(case, other.messages, pending, second) == once


@settings(max_examples=300)
@given(case=cases, presentation=presentations, style=styles)
def test_removing_an_injection_restores_the_list(
    case: Case, presentation: Presentation, style: RenderingStyle | None
) -> None:
    result = injected(case, case.messages, pending_with(WORD, 1, presentation), style)
    assert take_out(result.messages, provider=case.provider) == case.messages
    assert take_out(case.messages, provider=case.provider) == case.messages


def go_on(case: Case, messages: list[Any]) -> list[Any]:
    """Return the list of the next turn, in a loop that keeps the injected messages."""
    if case.provider is Provider.ANTHROPIC:
        answer: list[Any] = [{"role": "assistant", "content": [{"type": "text", "text": "I see."}]}]
    else:
        answer = [{"role": "assistant", "content": "I see."}]
    return [*messages, *answer, {"role": "user", "content": "Go on."}]


@settings(max_examples=300)
@given(case=cases, presentation=presentations, style=styles)
def test_a_loop_that_keeps_its_injections_stays_valid(
    case: Case, presentation: Presentation, style: RenderingStyle | None
) -> None:
    """Mail that is shown once stays at its place. Mail that is shown until handled is only at the end."""
    if case.is_begun or not case.messages:
        return
    kept = go_on(case, injected(case, case.messages, pending_with(WORD, 1, presentation), style).messages)
    again = injected(case, kept, pending_with(LATER, 2, presentation), style)
    assert case.refusal(again.messages) is None
    text = json.dumps(again.messages)
    assert text.count(LATER) == 1
    assert text.count(WORD) == (1 if presentation is Presentation.ONCE else 0)
    if presentation is Presentation.ONCE:
        assert again.messages[: len(kept) - 1] == kept[:-1]


@settings(max_examples=100)
@given(case=st.one_of(anthropic_cases(), chat_cases(), responses_cases()), presentation=presentations)
def test_an_empty_injection_changes_nothing(case: Case, presentation: Presentation) -> None:
    nothing = pending_for_bob(offer=None, presentation=presentation)
    assert injected(case, case.messages, nothing) == Injected(case.messages, InjectionForm.NOTHING)
    full = injected(case, case.messages, pending_with(WORD, 1, presentation))
    assert injected(case, full.messages, nothing).messages == case.messages
